#include "fetch/package_contents.h"

#include <array>
#include <optional>
#include <regex>
#include <sstream>
#include <system_error>

#include <boost/algorithm/string/trim.hpp>

#include "storage/domain/printable.h"
#include "storage/domain/small_file.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;

/// Empty when it is not there, or no such file.
std::istringstream text_of(fs::path const& file) {
  auto const text = read_small_file(file);
  return std::istringstream{text ? *text : ""};
}

/// The first line; empty when there is none.
std::string line_of(fs::path const& file) {
  auto stream = text_of(file);
  std::string line;
  std::getline(stream, line);
  return boost::trim_copy(line);
}

/// What a name is bound to, as PyTorch generates its version.py: NAME = 'VALUE', with or without a
/// type; empty when it is not there.
std::string bound_to(std::string const& name, fs::path const& file) {
  std::regex const binding{name + R"re((?:\s*:[^=]*)?\s*=\s*(?:'([^']*)'|"([^"]*)")\s*)re"};
  auto stream = text_of(file);
  std::string line;
  std::smatch found;
  constexpr std::size_t longest = 200;
  while (std::getline(stream, line))
    if (line.size() < longest && std::regex_match(line, found, binding))
      return found[1].matched ? found[1].str() : found[2].str();
  return {};
}

/// Something without which no worker can be built; empty when all is there.
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
  return Error{ErrorCode::corrupt,
               directory.string() +
                   ": holds neither torch/version.py, as wheels do, nor libtorch/build-version"};
}

}  // namespace torchwatch::fetch
