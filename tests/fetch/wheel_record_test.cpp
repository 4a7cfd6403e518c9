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

  void expect_warning(std::string const& warning) const {
    auto const checked = check_record(wheel());
    ASSERT_TRUE(checked.has_value()) << checked.error().message;
    EXPECT_EQ(*checked, warning);
  }

 private:
  tests::TemporaryFolder wheel_;
};

TEST_F(WheelRecordTest, ReturnsNoWarningForAWheelThatMatches) {
  expect_warning("");
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

TEST_F(WheelRecordTest, RefusesALibraryAndAHeaderThatDiffer) {
  record(good() + "torch/lib/libtorch.so," + hello + ",5\n");
  write("torch/lib/libtorch.so", "hallo");
  expect_refused(std::string{"torch/lib/libtorch.so has "} + hello +
                 ", found sha256=03UdM_nNUEnErytGJzVFfk07rxMLy7h_OJ40n7rrILk");

  record(good() + "torch/include/torch/torch.h,,6\n");
  write("torch/include/torch/torch.h", "hello");
  expect_refused("torch/include/torch/torch.h has 6 bytes, found 5");
}

TEST_F(WheelRecordTest, WarnsOfMetadataThatDiffers) {
  write("torch-2.9.dist-info/METADATA", "hallo");
  expect_warning(std::string{"RECORD: torch-2.9.dist-info/METADATA has "} + hello +
                 ", found sha256=03UdM_nNUEnErytGJzVFfk07rxMLy7h_OJ40n7rrILk");
}

TEST_F(WheelRecordTest, WarnsOfMissingMetadata) {
  record(good() + "torch-2.9.dist-info/LICENSE,,\n");
  expect_warning("RECORD: torch-2.9.dist-info/LICENSE is not there");
}

TEST_F(WheelRecordTest, WarnsOfMetadataThatIsListedTwiceWithDifferences) {
  record(good() + "torch-2.9.dist-info/METADATA,,4\n");
  expect_warning("");
  record("torch-2.9.dist-info/METADATA,,4\n" + good());
  expect_warning("RECORD: torch-2.9.dist-info/METADATA has 4 bytes, found 5");
}

TEST_F(WheelRecordTest, WarnsOfFilesThatAreNotListedInOneLine) {
  write("caffe2/__init__.py", "");
  expect_warning("RECORD: caffe2/__init__.py is not listed");

  write("caffe2/python/core.py", "");
  write("torch-2.9.dist-info/METADATA", "hello!");
  write("torch/lib/libcaffe2.so", "");
  expect_warning("RECORD: caffe2/__init__.py is not listed; 3 more differ");
}

TEST_F(WheelRecordTest, RefusesALibraryThatDiffersNextToWarnings) {
  write("caffe2/__init__.py", "");
  write("torch/version.py", "hello!");
  expect_refused("torch/version.py has 5 bytes, found 6");
}

TEST_F(WheelRecordTest, RefusesAMissingListedFile) {
  record(good() + "torch/lib/libtorch.so,,\n");
  expect_refused("RECORD: torch/lib/libtorch.so is not there");
}

TEST_F(WheelRecordTest, RefusesAWeakerDigest) {
  record(good() + "torch/more.py,md5=XUFAKrxLKna5cZ2REBfFkg,5\n");
  write("torch/more.py", "hello");
  expect_refused(std::string{"torch/more.py has md5=XUFAKrxLKna5cZ2REBfFkg, found "} + hello);
}

TEST_F(WheelRecordTest, RefusesInvalidLines) {
  record("nonsense\n");
  expect_refused("RECORD: a line is not \"path,digest,size\"");
}

TEST_F(WheelRecordTest, RefusesAFileThatIsListedTwiceWithDifferences) {
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
  expect_refused("does not have exactly one *.dist-info/RECORD");
}

}  // namespace
}  // namespace torchwatch::fetch
