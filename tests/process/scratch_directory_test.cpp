#include "runner/process/scratch_directory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/temporary_folder.h"

namespace torchwatch::process {

namespace {

namespace fs = std::filesystem;

/// A separate system temporary directory for this test.
class ScratchDirectoryTest : public testing::Test {
 protected:
  ScratchDirectoryTest() { ::setenv("TMPDIR", folder_.path().c_str(), 1); }

  ~ScratchDirectoryTest() override { ::unsetenv("TMPDIR"); }

  /// Leaves a directory behind, like a process that was killed.
  void leave_one() const {
    auto const child = ::fork();
    if (child == 0) {
      auto const scratch = ScratchDirectory::make();
      std::ofstream{fs::path{scratch->path()} / "half"} << "half";
      ::_exit(0);  // no destructor
    }
    ::waitpid(child, nullptr, 0);
  }

  tests::TemporaryFolder folder_;
};

TEST_F(ScratchDirectoryTest, IsRemovedByItsDestructor) {
  {
    auto const scratch = ScratchDirectory::make().value();
    std::ofstream{fs::path{scratch.path()} / "something"} << "something";
    EXPECT_EQ(folder_.entries(), 1);
  }
  EXPECT_EQ(folder_.entries(), 0);
}

TEST_F(ScratchDirectoryTest, OfAKilledProcessIsSwept) {
  leave_one();
  leave_one();
  ASSERT_EQ(folder_.entries(), 2);

  sweep_scratch_directories();

  EXPECT_EQ(folder_.entries(), 0);
}

TEST_F(ScratchDirectoryTest, OfALivingProcessIsKept) {
  auto const scratch = ScratchDirectory::make().value();
  std::ofstream{fs::path{scratch.path()} / "something"} << "something";

  sweep_scratch_directories();

  EXPECT_TRUE(fs::exists(fs::path{scratch.path()} / "something"));
}

TEST_F(ScratchDirectoryTest, IsNotConfusedWithOtherFiles) {
  fs::create_directory(folder_ / "elsewhere");
  std::ofstream{folder_ / "elsewhere/file"} << "mine";
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "torchwatch-scratch-abcdef");
  std::ofstream{folder_ / "torchwatch-scratch-ghijkl"} << "a file";

  sweep_scratch_directories();

  EXPECT_EQ(folder_.entries(), 3);
  EXPECT_EQ(tests::text_of(folder_ / "elsewhere/file"), "mine");
}

}  // namespace

}  // namespace torchwatch::process
