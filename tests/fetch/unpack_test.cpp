#include "fetch/unpack.h"

#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/fetch/archive_writer.h"
#include "tests/temporary_folder.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using tests::text_of;

class UnpackTest : public testing::Test {
 protected:
  using Fill = std::function<void(ArchiveWriter&)>;

  Result<Unpacked> unpack_made(Fill const& fill,
                               ArchiveWriter::Format format = ArchiveWriter::Format::tar_zst,
                               UnpackLimits const& limits = {}) {
    ArchiveWriter writer{archive(), format};
    fill(writer);
    writer.close();
    return unpack(archive(), out(), limits);
  }

  void expect_refused(Result<Unpacked> const& result, std::string const& why) {
    expect_failed(result, ErrorCode::refused, why);
  }

  /// Expects an error of one line with archive and reason, and no files next to the archive.
  void expect_failed(Result<Unpacked> const& result,
                     testing::Matcher<ErrorCode> const& code,
                     std::string const& why) {
    ASSERT_FALSE(result.has_value());
    EXPECT_THAT(result.error().code, code);
    EXPECT_THAT(result.error().message, HasSubstr("archive " + archive().string()));
    EXPECT_THAT(result.error().message, HasSubstr(why));
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
    EXPECT_FALSE(fs::exists(out()));
    EXPECT_EQ(folder_.entries(), 1) << "the archive alone";
  }

  fs::path archive() const { return folder_ / "made"; }

  fs::path out() const { return folder_ / "out"; }

 private:
  tests::TemporaryFolder folder_;
};

void fill_with_good_things(ArchiveWriter& writer) {
  writer.add_directory("torch/");
  writer.add_file("torch/lib/libc10.so.1", "c10");
  writer.add_file("torch/bin/protoc", "#!/bin/sh", true);
  writer.add_file("./torch/./version.py", "__version__ = '2.9'");
  writer.add_link("torch/lib/libc10.so", "libc10.so.1");
  writer.add_link("torch/lib/bin", "../bin");
}

class UnpackFormats : public UnpackTest,
                      public testing::WithParamInterface<ArchiveWriter::Format> {};

TEST_P(UnpackFormats, UnpackFilesDirectoriesAndLinks) {
  auto const done = unpack_made(fill_with_good_things, GetParam());

  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->entries, 6);
  EXPECT_EQ(done->bytes, 3 + 9 + 19);
  EXPECT_EQ(text_of(out() / "torch/version.py"), "__version__ = '2.9'");
  EXPECT_EQ(text_of(out() / "torch/lib/libc10.so"), "c10");
  EXPECT_EQ(text_of(out() / "torch/lib/bin/protoc"), "#!/bin/sh");
  EXPECT_NE(fs::status(out() / "torch/bin/protoc").permissions() & fs::perms::owner_exec,
            fs::perms::none);
  EXPECT_EQ(fs::status(out() / "torch/version.py").permissions() & fs::perms::owner_exec,
            fs::perms::none);
}

INSTANTIATE_TEST_SUITE_P(
    Of, UnpackFormats, testing::Values(ArchiveWriter::Format::zip, ArchiveWriter::Format::tar_zst));

TEST_F(UnpackTest, ReportsProgress) {
  ArchiveWriter writer{archive(), ArchiveWriter::Format::tar_zst};
  writer.add_zeros("zeros", 1 << 20);
  writer.close();
  std::int64_t reported = 0;
  ASSERT_TRUE(unpack(archive(), out(), {}, [&](std::int64_t bytes) { reported = bytes; }));
  EXPECT_GT(reported, 0);
}

struct Hostile {
  std::string name;
  std::function<void(ArchiveWriter&)> fill;
  std::string why;
};

void PrintTo(Hostile const& hostile, std::ostream* stream) {
  *stream << hostile.name;
}

class UnpackRefuses : public UnpackTest, public testing::WithParamInterface<Hostile> {};

TEST_P(UnpackRefuses, WritingNothing) {
  auto const fill = [](ArchiveWriter& writer) {
    writer.add_file("good", "good");
    GetParam().fill(writer);
  };
  expect_refused(unpack_made(fill), GetParam().why);
}

INSTANTIATE_TEST_SUITE_P(
    Hostile,
    UnpackRefuses,
    testing::Values(Hostile{"ParentInPath",
                            [](auto& to) { to.add_file("a/../../evil", "x"); },
                            "entry a/../../evil: its path has \"..\""},
                    Hostile{"AbsolutePath",
                            [](auto& to) { to.add_file("/tmp/evil", "x"); },
                            "entry /tmp/evil: its path is absolute"},
                    Hostile{"AbsoluteLink",
                            [](auto& to) { to.add_link("a/link", "/etc"); },
                            "entry a/link: it is a link out of the tree, to /etc"},
                    Hostile{"LinkOut",
                            [](auto& to) { to.add_link("a/link", "../../etc"); },
                            "a link out of the tree, to ../../etc"},
                    Hostile{"LinkDownAndOut",
                            [](auto& to) {
                              to.add_link("a/b/c/link", "../../../s");
                              to.add_link("a/b/out", "c/link/../../x");
                            },
                            "a link out of the tree, to c/link/../../x"},
                    Hostile{"FileThroughLink",
                            [](auto& to) {
                              to.add_link("a", "b");
                              to.add_file("a/evil", "x");
                            },
                            "entry a: its path occurs twice, with different types"},
                    Hostile{"HardLink",
                            [](auto& to) { to.add_hard_link("link", "good"); },
                            "entry link: it is a hard link"},
                    Hostile{"Device",
                            [](auto& to) { to.add_special("dev/null", S_IFCHR); },
                            "entry dev/null: it is neither file"},
                    Hostile{"Fifo",
                            [](auto& to) { to.add_special("build.json", S_IFIFO); },
                            "entry build.json: it is neither file"},
                    Hostile{"SamePathTwice",
                            [](auto& to) { to.add_file("./good", "bad"); },
                            "entry good: its path occurs twice"},
                    Hostile{"FileAndDirectory",
                            [](auto& to) { to.add_file("good/x", "bad"); },
                            "entry good: its path occurs twice, with different types"},
                    Hostile{
                        "NoName", [](auto& to) { to.add_file(".", "x"); }, "its path occurs twice"},
                    Hostile{"LineBreakInName",
                            [](auto& to) { to.add_link("a\nb", "/x"); },
                            "entry a\\nb: it is a link out of the tree"},
                    Hostile{"LongPath",
                            [](auto& to) { to.add_file(std::string(2000, 'a'), "x"); },
                            "its path has 2000 characters, allowed are 1024"},
                    Hostile{"LongName",
                            [](auto& to) { to.add_file(std::string(256, 'a'), "x"); },
                            "a name in its path has more than 255 characters"},
                    Hostile{"LongLink",
                            [](auto& to) { to.add_link("link", std::string(5000, 'a')); },
                            "entry link: it is a link to a path that is too long"},
                    Hostile{"Bomb",
                            [](auto& to) { to.add_zeros("zeros", 10LL << 30); },
                            "entry zeros: it unpacks to more than"}),
    [](auto const& test) { return test.param.name; });

TEST_F(UnpackTest, RefusesAMillionEntries) {
  auto const fill = [](ArchiveWriter& writer) {
    for (int i = 0; i < 1'000'000; ++i)
      writer.add_directory(std::to_string(i));
  };
  expect_refused(unpack_made(fill), "one too many, allowed are 100000 entries");
}

TEST_F(UnpackTest, RefusesManyDirectoriesThatAreNotListed) {
  auto const fill = [](ArchiveWriter& writer) {
    for (char c = 'a'; c <= 'z'; ++c)
      writer.add_file(std::string(1, c) + "/1/2/3/4/5/6/7/8/9/file", "x");
  };
  UnpackLimits limits;
  limits.entries = 100;
  expect_refused(unpack_made(fill, ArchiveWriter::Format::tar_zst, limits), "allowed are 100");
}

TEST_F(UnpackTest, FailsOnTruncatedArchives) {
  {
    ArchiveWriter writer{archive(), ArchiveWriter::Format::zip};
    fill_with_good_things(writer);
    writer.close();
  }
  auto const whole = text_of(archive());
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    std::ofstream{archive(), std::ios::binary} << whole.substr(0, size);
    expect_failed(unpack(archive(), out()), ErrorCode::corrupt, "");
  }
}

TEST_F(UnpackTest, FailsOnDamage) {
  std::string noise;
  for (unsigned i = 0, x = 1; i < 4000; ++i, x = x * 1103515245 + 12345)
    noise += static_cast<char>(x >> 16);
  {
    ArchiveWriter writer{archive(), ArchiveWriter::Format::zip};
    writer.add_file("noise", noise);
    writer.close();
  }
  auto bytes = text_of(archive());
  bytes[2000] = static_cast<char>(bytes[2000] ^ 1);
  std::ofstream{archive(), std::ios::binary} << bytes;
  expect_failed(unpack(archive(), out()), ErrorCode::corrupt, "entry noise: ");
}

TEST_F(UnpackTest, RefusesABombWithAWrongSize) {
  UnpackLimits limits;
  limits.bytes = 1 << 20;
  {
    ArchiveWriter writer{archive(), ArchiveWriter::Format::zip};
    writer.add_zeros("zeros", 2 << 20);
    writer.close();
  }
  auto bytes = text_of(archive());
  // The size in the central directory, 24 bytes after its signature.
  auto const size = bytes.rfind("PK\x01\x02") + 24;
  bytes.replace(size, 4, std::string{"\x01\0\0\0", 4});
  std::ofstream{archive(), std::ios::binary} << bytes;
  expect_failed(unpack(archive(), out(), limits),
                testing::AnyOf(ErrorCode::refused, ErrorCode::corrupt),
                "entry zeros: ");
}

TEST_F(UnpackTest, KeepsAnExistingDirectory) {
  fs::create_directory(out());
  std::ofstream{out() / "mine"} << "mine";
  auto const done = unpack_made(fill_with_good_things);
  ASSERT_FALSE(done.has_value());
  EXPECT_THAT(done.error().message, HasSubstr("it exists already"));
  EXPECT_EQ(text_of(out() / "mine"), "mine");
}

}  // namespace
}  // namespace torchwatch::fetch
