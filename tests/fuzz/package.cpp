#include "fetch/package.h"

#include <filesystem>

#include "fetch/package_contents.h"
#include "storage/base/date.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"
#include "tests/temporary_folder.h"

namespace torchwatch::fuzz {
namespace {

namespace fs = std::filesystem;

/// Makes a prefix with the files that a worker is compiled against.
void make_prefix(fs::path const& prefix) {
  fs::create_directories(prefix / "lib");
  fs::create_directories(prefix / "share/cmake/Torch");
  fs::create_directories(prefix / "include/torch/csrc/api/include/torch");
  write_file(prefix / "share/cmake/Torch/TorchConfig.cmake", "");
  write_file(prefix / "include/torch/csrc/api/include/torch/torch.h", "");
}

void check_contents(fs::path const& directory) {
  auto const contents = fetch::contents_of(directory);
  if (!contents) {
    require(contents.error().code == ErrorCode::corrupt, "a package without a version is corrupt");
    require(is_one_line(contents.error().message), "an error is one line");
    return;
  }
  require(!contents->version.empty() && is_one_line(contents->version), "a version is one word");
  require(is_commit_sha(contents->release_commit.hex), "a package has a commit");
}

}  // namespace

/// The name of a package, its torch/version.py, its build-version and its build-hash.
void package(std::string_view input) {
  static tests::TemporaryFolder const folder;
  static auto const wheel = folder / "wheel";
  static auto const libtorch = folder / "archive";
  static bool const is_made = [] {
    make_prefix(wheel / "torch");
    make_prefix(libtorch / "libtorch");
    return true;
  }();
  require(is_made, "prefixes are made once");
  auto const parts = parts_of(input, 4);
  if (auto const named = fetch::parse_package(parts[0])) {
    require(day_of(named->date).has_value(), "a nightly has a day");
    require(!named->version.empty() && parts[0].find(named->version) != std::string::npos,
            "a version is part of the name");
  }
  write_file(wheel / "torch/version.py", parts[1]);
  check_contents(wheel);
  write_file(libtorch / "libtorch/build-version", parts[2]);
  write_file(libtorch / "libtorch/build-hash", parts[3]);
  check_contents(libtorch);
}

}  // namespace torchwatch::fuzz
