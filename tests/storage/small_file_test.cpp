#include "storage/base/small_file.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/temporary_folder.h"

namespace torchwatch {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;

class SmallFileTest : public testing::Test {
 protected:
  void expect_refused(ErrorCode code, std::string const& why) const {
    auto const text = read_small_file(file_, 100);
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().code, code);
    EXPECT_EQ(text.error().message, file_.string() + ": " + why);
  }

  tests::TemporaryFolder folder_;
  fs::path const file_ = folder_ / "build.json";
};

TEST_F(SmallFileTest, IsReadAsAWhole) {
  auto const text = std::string(100, 'x');
  std::ofstream{file_} << text;
  EXPECT_EQ(read_small_file(file_, 100).value(), text);
}

TEST_F(SmallFileTest, IsWrittenAsAWholeInPlaceOfAnother) {
  std::ofstream{file_} << "a longer one from before";
  std::ofstream{folder_ / "other"} << "untouched";
  fs::create_symlink("other", file_.string() + ".new");
  auto const written = write_small_file(file_, "new");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(read_small_file(file_).value(), "new");
  EXPECT_EQ(read_small_file(folder_ / "other").value(), "untouched") << "the target of the link";
  EXPECT_FALSE(fs::exists(file_.string() + ".new"));
}

TEST_F(SmallFileTest, NamesAFileThatCannotBeWritten) {
  auto const nowhere = folder_ / "none" / "file";
  auto const written = write_small_file(nowhere, "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::unavailable);
  EXPECT_EQ(written.error().message,
            nowhere.string() + ": cannot be written: No such file or directory");
}

TEST_F(SmallFileTest, MayBeALinkToOne) {
  std::ofstream{folder_ / "other"} << "text";
  fs::create_symlink("other", file_);
  EXPECT_EQ(read_small_file(file_).value(), "text");
}

TEST_F(SmallFileTest, IsNotFoundWhenMissing) {
  expect_refused(ErrorCode::not_found, "No such file or directory");
}

TEST_F(SmallFileTest, RefusesALargeFile) {
  std::ofstream{file_} << "x";
  fs::resize_file(file_, std::uintmax_t{300} << 20);
  expect_refused(ErrorCode::corrupt, "has more than 100 bytes, the limit");
}

TEST_F(SmallFileTest, RefusesAPipe) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  expect_refused(ErrorCode::corrupt, "is not a regular file");
}

TEST_F(SmallFileTest, RefusesADevice) {
  fs::create_symlink("/dev/zero", file_);
  expect_refused(ErrorCode::corrupt, "is not a regular file");
}

TEST_F(SmallFileTest, RefusesADirectory) {
  fs::create_directory(file_);
  expect_refused(ErrorCode::corrupt, "is not a regular file");
}

TEST_F(SmallFileTest, RefusesALoopOfLinks) {
  fs::create_symlink("build.json", file_);
  expect_refused(ErrorCode::corrupt, "Too many levels of symbolic links");
}

}  // namespace
}  // namespace torchwatch
