#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

/// What targets have in common.
namespace torchwatch::fuzz {

/// A property does not hold.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws Broken, with the property in words, unless it holds.
void require(bool holds, std::string const& property);

/// No line's end, and no other control character of ASCII.
bool is_one_line(std::string_view text);

/// Parts of an input, which lines of "%%" stand between; those that are missing are empty, and the
/// last has whatever is left.
std::vector<std::string> parts_of(std::string_view input, std::size_t count);

/// Writes the whole of a file.
void write_file(std::filesystem::path const& file, std::string_view text);

/// Whether all of `kept`, as it is sent on, is as in `given`, where that says something of it: no
/// number has been rounded, no word replaced.
bool agrees(nlohmann::json const& given, nlohmann::json const& kept);

}  // namespace torchwatch::fuzz
