#include "storage/base/remove_tree.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/temporary_folder.h"

namespace torchwatch {
namespace {

namespace fs = std::filesystem;

/// Runs as an ordinary user, because root may write everywhere.
class RemoveTreeTest : public testing::Test {
 protected:
  void SetUp() override {
    constexpr uid_t ordinary_user = 65534;
    fs::permissions(folder_.path(), fs::perms::all);
    if (::geteuid() == 0) {
      ASSERT_EQ(::seteuid(ordinary_user), 0);
    }
    fs::create_directories(tree_ / "a/b/c");
    std::ofstream{tree_ / "a/b/c/file"} << "text";
  }

  void TearDown() override {
    if (::getuid() == 0) {
      ASSERT_EQ(::seteuid(0), 0);
    }
  }

  std::error_code removed() const {
    std::error_code problem;
    remove_tree(tree_, problem);
    return problem;
  }

  tests::TemporaryFolder folder_;
  fs::path const tree_ = folder_ / "tree";
};

TEST_F(RemoveTreeTest, IsGone) {
  EXPECT_FALSE(removed());
  EXPECT_FALSE(fs::exists(tree_));
  EXPECT_FALSE(removed()) << "what is not there is no problem";
}

TEST_F(RemoveTreeTest, RemovesDirectoriesWithoutWritePermission) {
  fs::permissions(tree_ / "a/b/c", fs::perms::none);
  fs::permissions(tree_ / "a/b", fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(tree_ / "a", fs::perms::none);
  EXPECT_FALSE(removed());
  EXPECT_FALSE(fs::exists(tree_));
}

TEST_F(RemoveTreeTest, DoesNotFollowLinks) {
  fs::create_directories(folder_ / "other/locked");
  std::ofstream{folder_ / "other/locked/file"} << "text";
  fs::permissions(folder_ / "other/locked", fs::perms::owner_read | fs::perms::owner_exec);
  fs::create_symlink(folder_ / "other", tree_ / "a/link");
  fs::permissions(tree_ / "a", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_FALSE(removed());
  EXPECT_TRUE(fs::exists(folder_ / "other/locked/file"));
  EXPECT_EQ(fs::status(folder_ / "other/locked").permissions(),
            fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(folder_ / "other/locked", fs::perms::owner_all);
}

TEST_F(RemoveTreeTest, ReportsAnErrorForFilesThatStay) {
  std::error_code problem;
  remove_tree("/proc/self/status", problem);
  EXPECT_TRUE(problem);
}

}  // namespace
}  // namespace torchwatch
