#include "fetch/wheel_record.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

/// printf hello | openssl dgst -sha256 -binary | basenc --base64url
constexpr auto hello = "sha256=LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ";

class WheelRecordTest : public testing::Test {
 protected:
  WheelRecordTest() {
    write("torch/version.py", "hello");
    write("torch/with, comma.py", "");
    write("torch-2.9.dist-info/METADATA", "hello");
    write("torch-2.9.dist-info/RECORD.jws", "signed");
    record(good());
  }

  void write(std::string const& name, std::string const& text) const {
    fs::create_directories((wheel_ / name).parent_path());
    std::ofstream{wheel_ / name} << text;
  }

  void record(std::string const& lines) const { write("torch-2.9.dist-info/RECORD", lines); }

  fs::path const& wheel() const { return wheel_.path(); }

  static std::string good() {
    return std::string{"torch/version.py,"} + hello + ",5\r\n" + "\"torch/with, comma.py\",,\n" +
           "torch-2.9.dist-info/METADATA," + hello + ",\n" + "torch-2.9.dist-info/RECORD,,\n";
  }

  void expect_refused(std::string const& why) const {
    auto const checked = check_record(wheel());
    ASSERT_FALSE(checked.has_value());
    EXPECT_EQ(checked.error().code, ErrorCode::corrupt);
    EXPECT_THAT(checked.error().message, EndsWith(why));
    EXPECT_THAT(checked.error().message, HasSubstr(wheel().string()));
  }

 private:
  tests::TemporaryFolder wheel_;
};

TEST_F(WheelRecordTest, IsWhatLiesThere) {
  auto const checked = check_record(wheel());
  EXPECT_TRUE(checked.has_value()) << checked.error().message;
}

TEST_F(WheelRecordTest, RefusesOtherContents) {
  write("torch/version.py", "hallo");
  expect_refused(std::string{"torch/version.py has "} + hello +
                 ", found sha256=03UdM_nNUEnErytGJzVFfk07rxMLy7h_OJ40n7rrILk");
}

TEST_F(WheelRecordTest, RefusesAnotherSize) {
  write("torch/version.py", "hello!");
  expect_refused("torch/version.py has 5 bytes, found 6");
}

TEST_F(WheelRecordTest, RefusesAFileThatIsNotListed) {
  write("torch/evil.py", "");
  expect_refused("RECORD: torch/evil.py is not listed");
}

TEST_F(WheelRecordTest, RefusesAListedFileThatIsNotThere) {
  record(good() + "torch/lib/libtorch.so,,\n");
  expect_refused("RECORD: torch/lib/libtorch.so is not there");
}

TEST_F(WheelRecordTest, RefusesAWeakerDigest) {
  record(good() + "torch/more.py,md5=XUFAKrxLKna5cZ2REBfFkg,5\n");
  write("torch/more.py", "hello");
  expect_refused(std::string{"torch/more.py has md5=XUFAKrxLKna5cZ2REBfFkg, found "} + hello);
}

TEST_F(WheelRecordTest, RefusesNonsense) {
  record("nonsense\n");
  expect_refused("RECORD: a line is not \"path,digest,size\"");
}

TEST_F(WheelRecordTest, RefusesAFileThatIsListedTwiceAndNotAlike) {
  record(good() + "torch/version.py,,\n");
  expect_refused("RECORD: torch/version.py is listed twice, with another digest or size");

  record(good() + good());
  EXPECT_TRUE(check_record(wheel()));
}

TEST_F(WheelRecordTest, RefusesAQuoteThatIsNotClosed) {
  record(good() + "\"torch/more.py,,\n");
  expect_refused("RECORD: a line is not \"path,digest,size\"");
}

TEST_F(WheelRecordTest, RefusesALinkToNoFile) {
  fs::create_symlink("nowhere", wheel() / "torch/more.py");
  record(good() + "torch/more.py,,\n");
  expect_refused("RECORD: torch/more.py leads to no file");
}

TEST_F(WheelRecordTest, RefusesALinkToItself) {
  fs::create_symlink("more.py", wheel() / "torch/more.py");
  record(good() + "torch/more.py,,\n");
  expect_refused("RECORD: torch/more.py leads to no file");
}

TEST_F(WheelRecordTest, RefusesNoneAndTwo) {
  write("other.dist-info/RECORD", "");
  expect_refused("has no single *.dist-info/RECORD");
}

}  // namespace
}  // namespace torchwatch::fetch
