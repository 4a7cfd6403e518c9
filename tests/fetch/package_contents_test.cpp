#include "fetch/package_contents.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace torchwatch::fetch {
namespace {

using testing::HasSubstr;

auto const hash = std::string(40, 'a');
auto const generated =
    "from typing import Optional\n\n"
    "__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n"
    "__version__ = '2.9.0.dev20250902+cu126'\n"
    "debug = False\n"
    "cuda: Optional[str] = '12.6'\n"
    "git_version = '" +
    hash + "'\nhip: Optional[str] = None\n";

class PackageContentsTest : public testing::Test {
 protected:
  void write(std::string const& name, std::string const& text = "") const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream{folder_ / name} << text;
  }

  /// Writes the files that compiling a worker needs, with an empty library.
  void write_prefix(std::string const& prefix) const {
    write(prefix + "/share/cmake/Torch/TorchConfig.cmake");
    write(prefix + "/include/torch/csrc/api/include/torch/torch.h");
    write(prefix + "/lib/libtorch.so");
  }

  void expect_contents(std::string const& prefix, std::string const& version) const {
    auto const contents = contents_of(folder_.path());
    ASSERT_TRUE(contents.has_value()) << contents.error().message;
    EXPECT_EQ(contents->prefix, folder_ / prefix);
    EXPECT_EQ(contents->version, version);
    EXPECT_EQ(contents->release_commit.hex, hash);
  }

  void expect_refused(std::string const& why) const {
    auto const contents = contents_of(folder_.path());
    ASSERT_FALSE(contents.has_value());
    EXPECT_EQ(contents.error().code, ErrorCode::corrupt);
    EXPECT_THAT(contents.error().message, HasSubstr(folder_.path().string()));
    EXPECT_THAT(contents.error().message, HasSubstr(why));
  }

  tests::TemporaryFolder folder_;
};

TEST_F(PackageContentsTest, OfAWheelAreInItsVersionFile) {
  write("torch/version.py", generated);
  write_prefix("torch");
  expect_contents("torch", "2.9.0.dev20250902+cu126");
}

TEST_F(PackageContentsTest, OfALibTorchAreInItsBuildFiles) {
  write("libtorch/build-version", "2.9.0.dev20250902+cpu\n");
  write("libtorch/build-hash", hash + "\r\n");
  write_prefix("libtorch");
  expect_contents("libtorch", "2.9.0.dev20250902+cpu");
}

TEST_F(PackageContentsTest, ReadTypesAndOtherQuotes) {
  write("torch/version.py",
        "__version__: str = \"2.9.0.dev20250902\"\ngit_version=\"" + hash + "\"\n");
  write_prefix("torch");
  expect_contents("torch", "2.9.0.dev20250902");
}

TEST_F(PackageContentsTest, WithoutAVersionAreRefused) {
  write("torch/version.py", "git_version = '" + hash + "'\n");
  expect_refused("torch/version.py: names no version");
}

TEST_F(PackageContentsTest, WithoutACommitAreRefused) {
  write("torch/version.py", "__version__ = '2.9'\ngit_version = 'Unknown'\n");
  expect_refused("version.py: found \"Unknown\" for the commit, allowed are 40 hexadecimal digits");
  write("torch/version.py", "__version__ = '2.9'\n" + std::string(100'000, 'x'));
  expect_refused("found \"\" for the commit");
}

TEST_F(PackageContentsTest, WithoutFilesForCompilingAreRefused) {
  write("torch/version.py", generated);
  write("torch/lib/libtorch.so");
  expect_refused("torch: has no share/cmake/Torch/TorchConfig.cmake");
}

TEST_F(PackageContentsTest, OfOtherDirectoriesAreRefused) {
  write("numpy/version.py");
  expect_refused("has neither torch/version.py (of wheels) nor libtorch/build-version");
}

}  // namespace
}  // namespace torchwatch::fetch
