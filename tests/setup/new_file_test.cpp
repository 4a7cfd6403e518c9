#include "daemon/setup/new_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace torchwatch::setup {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using tests::text_of;

TEST(NewFile, LeavesNoOtherFile) {
  tests::TemporaryFolder const folder;

  ASSERT_TRUE(write_new_file(folder / "new", "text\n"));

  EXPECT_EQ(text_of(folder / "new"), "text\n");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(NewFile, IsReadableByEveryone) {
  tests::TemporaryFolder const folder;

  ASSERT_TRUE(write_new_file(folder / "new", "text"));

  auto const permissions = fs::status(folder / "new").permissions();
  EXPECT_NE(permissions & fs::perms::others_read, fs::perms::none);
  EXPECT_EQ(permissions & fs::perms::others_write, fs::perms::none);
}

TEST(NewFile, LeavesAloneWhatIsThere) {
  tests::TemporaryFolder const folder;
  ASSERT_TRUE(write_new_file(folder / "old", "first"));

  auto const written = write_new_file(folder / "old", "second");

  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::refused);
  EXPECT_EQ(written.error().message,
            (folder / "old").string() + ": exists already, and is left as it is");
  EXPECT_EQ(text_of(folder / "old"), "first");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(NewFile, IsNotWrittenThroughALinkThatLeadsNowhere) {
  tests::TemporaryFolder const folder;
  fs::create_symlink(folder / "nowhere", folder / "link");

  auto const written = write_new_file(folder / "link", "text");

  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::refused);
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
}

TEST(NewFile, NeedsItsFolder) {
  tests::TemporaryFolder const folder;

  auto const written = write_new_file(folder / "none/new", "text");

  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::unavailable);
  EXPECT_THAT(written.error().message, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace torchwatch::setup
