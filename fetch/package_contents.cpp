#include "fetch/package_contents.h"

#include <array>
#include <optional>
#include <sstream>
#include <system_error>

#include <boost/algorithm/string/trim.hpp>

#include "storage/base/printable.h"
#include "storage/base/small_file.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;

/// Returns the text of a file. Empty when it does not exist or is not a small file.
std::istringstream text_of(fs::path const& file) {
  constexpr std::size_t most = std::size_t{1} << 20;
  auto const text = read_small_file(file, most);
  return std::istringstream{text ? *text : ""};
}

/// Returns the first line of a file. Empty when there is none.
std::string line_of(fs::path const& file) {
  auto stream = text_of(file);
  std::string line;
  std::getline(stream, line);
  return boost::trim_copy(line);
}

/// Returns VALUE of a line "NAME = 'VALUE'" or "NAME: TYPE = 'VALUE'".
std::optional<std::string> value_in(std::string const& line, std::string const& name) {
  auto const equals = line.find('=');
  if (!line.starts_with(name) || equals == std::string::npos) return std::nullopt;
  auto const type = boost::trim_copy(line.substr(name.size(), equals - name.size()));
  auto const value = boost::trim_copy(line.substr(equals + 1));
  if ((!type.empty() && type.front() != ':') || value.size() < 2) return std::nullopt;
  auto const quote = value.front();
  bool const is_quoted =
      (quote == '\'' || quote == '"') && value.find(quote, 1) + 1 == value.size();
  return is_quoted ? std::optional{value.substr(1, value.size() - 2)} : std::nullopt;
}

/// Returns the value of a name in PyTorch's generated version.py. Empty when it has no such name.
std::string bound_to(std::string const& name, fs::path const& file) {
  auto stream = text_of(file);
  for (std::string line; std::getline(stream, line);)
    if (auto const value = value_in(line, name)) return *value;
  return {};
}

/// Returns the first missing file that compiling a worker needs. Empty when none is missing.
std::string missing_in(fs::path const& prefix) {
  constexpr std::array<char const*, 3> needed{
      "share/cmake/Torch/TorchConfig.cmake", "include/torch/csrc/api/include/torch/torch.h", "lib"};
  std::error_code ignored;
  for (auto const* const name : needed)
    if (!fs::exists(prefix / name, ignored)) return name;
  return {};
}

Result<PackageContents> checked(PackageContents contents,
                                fs::path const& version_file,
                                fs::path const& hash_file) {
  auto const bad = [](fs::path const& file, std::string const& why) {
    return Error{ErrorCode::corrupt, file.string() + ": " + why};
  };
  if (contents.version.empty() || printable(contents.version) != contents.version)
    return bad(version_file, "names no version");
  if (!is_commit_sha(contents.release_commit.hex))
    return bad(hash_file,
               "found \"" + printable(contents.release_commit.hex, 60) +
                   "\" for the commit, allowed are 40 hexadecimal digits");
  if (auto const missing = missing_in(contents.prefix); !missing.empty())
    return bad(contents.prefix, "has no " + missing);
  return contents;
}

}  // namespace

Result<PackageContents> contents_of(fs::path const& directory) {
  std::error_code ignored;
  if (auto const file = directory / "torch/version.py"; fs::exists(file, ignored))
    return checked(
        {directory / "torch", bound_to("__version__", file), {bound_to("git_version", file)}},
        file,
        file);
  auto const prefix = directory / "libtorch";
  if (fs::exists(prefix / "build-version", ignored))
    return checked({prefix, line_of(prefix / "build-version"), {line_of(prefix / "build-hash")}},
                   prefix / "build-version",
                   prefix / "build-hash");
  return Error{
      ErrorCode::corrupt,
      directory.string() + ": has neither torch/version.py (of wheels) nor libtorch/build-version"};
}

}  // namespace torchwatch::fetch
