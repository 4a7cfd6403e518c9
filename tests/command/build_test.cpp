#include "runner/command/build.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace torchwatch::command {
namespace {

namespace fs = std::filesystem;

/// A test whose current directory is a new one, like that of a worker.
class CommandBuildTest : public testing::Test {
 protected:
  CommandBuildTest() {
    fs::create_directories(folder_ / "work");
    fs::current_path(folder_ / "work");
  }

  ~CommandBuildTest() override { fs::current_path("/"); }

  CommandBuildTest(CommandBuildTest const&) = delete;
  CommandBuildTest& operator=(CommandBuildTest const&) = delete;

  /// Makes the directory `path` a package torch with a version, and `build` a link to `prefix`.
  void install(fs::path const& path, fs::path const& prefix) {
    fs::create_directories(folder_ / path);
    std::ofstream{folder_ / path / "__init__.py"};
    std::ofstream{folder_ / path / "version.py"} << "__version__ = '2.14.0.dev20261120+cpu'\n"
                                                 << "git_version = 'abc123'\n";
    fs::create_directory_symlink(folder_ / prefix, "build");
  }

  std::string in_work(std::string const& name) const {
    return (fs::current_path() / name).string();
  }

  tests::TemporaryFolder folder_;
};

TEST_F(CommandBuildTest, OfTheSystemHasNoPaths) {
  auto const build = find_build("");
  EXPECT_EQ(build.prefix, "");
}

TEST_F(CommandBuildTest, OfLibTorchHasTheVersionInItsFile) {
  fs::create_directories(folder_ / "libtorch");
  std::ofstream{folder_ / "libtorch/build-version"} << "2.9.0+cpu\n";
  fs::create_directory_symlink(folder_ / "libtorch", "build");

  auto const build = find_build("build");

  EXPECT_EQ(build.prefix, in_work("build"));
  EXPECT_EQ(build.version, "2.9.0+cpu");
}

TEST_F(CommandBuildTest, WithTorchInsideHasTheVersionOfTorch) {
  install("nightly-1/torch", "nightly-1");

  auto const build = find_build("build");

  EXPECT_EQ(build.version, "2.14.0.dev20261120+cpu");
  EXPECT_EQ(build.git_hash, "abc123");
}

TEST_F(CommandBuildTest, NamedTorchHasTheVersionOfTorch) {
  install("nightly-1/torch", "nightly-1/torch");

  auto const build = find_build("build");

  EXPECT_EQ(build.prefix, in_work("build"));
  EXPECT_EQ(build.git_hash, "abc123");
}

TEST_F(CommandBuildTest, FingerprintHasTheNamesOfTheWorker) {
  Build build;
  build.version = "2.9.0+cpu";
  auto const all = fingerprint(3, build);
  EXPECT_NE(all.at("host"), "");
  EXPECT_NE(all.at("kernel"), "");
  EXPECT_NE(all.at("processors"), "");
  EXPECT_EQ(all.at("threads"), 3);
  EXPECT_EQ(all.at("libtorch"), "2.9.0+cpu");
}

}  // namespace
}  // namespace torchwatch::command
