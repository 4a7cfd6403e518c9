#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

/// Properties and helpers that all targets use.
namespace torchwatch::fuzz {

/// Thrown when a property does not hold.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws Broken with the text of the property unless it holds.
void require(bool holds, std::string const& property);

/// True when the text has neither line ends nor other ASCII control characters.
bool is_one_line(std::string_view text);

/// Returns `count` parts of an input, separated by lines of "%%". Missing parts are empty. The last
/// part has the rest.
std::vector<std::string> parts_of(std::string_view input, std::size_t count);

/// Replaces the contents of a file.
void write_file(std::filesystem::path const& file, std::string_view text);

/// True when each value of `kept` that `given` also has is equal there: no number was rounded, no
/// word replaced.
bool agrees(nlohmann::json const& given, nlohmann::json const& kept);

}  // namespace torchwatch::fuzz
