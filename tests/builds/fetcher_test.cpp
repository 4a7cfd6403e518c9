#include "daemon/builds/fetcher.h"

#include <algorithm>
#include <random>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fetch/wire.h"
#include "runner/process/child_process.h"
#include "storage/base/digest.h"
#include "tests/fakes/downloads/download_host.h"
#include "tests/fetch/archive_writer.h"
#include "tests/runner/run.h"
#include "tests/temporary_folder.h"

namespace torchwatch::builds {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using fetch::ArchiveWriter;
using testing::HasSubstr;
using tests::text_of;

/// Bytes that cannot be compressed.
std::string noise(std::size_t size) {
  std::minstd_rand random;
  std::string bytes(size, '\0');
  for (char& byte : bytes)
    byte = static_cast<char>(random() >> 8U);
  return bytes;
}

/// A host with one archive, and a request for it.
class FetcherTest : public testing::Test {
 protected:
  FetcherTest() {
    request_.download.url = host_.url() + "/torch.whl";
    request_.download.limit = std::chrono::seconds{60};
    request_.file = folder_ / "torch.whl";
    request_.directory = folder_ / "torch";
  }

  void host(std::size_t files, std::string const& content, std::string const& record = "") {
    auto const archive = folder_ / "made";
    ArchiveWriter writer{archive, ArchiveWriter::Format::zip};
    for (std::size_t i = 0; i < files; ++i)
      writer.add_file("torch/" + std::to_string(i), content);
    if (!record.empty()) writer.add_file("torch-2.9.dist-info/RECORD", record);
    writer.close();
    packed_ = text_of(archive);
    fs::remove(archive);
    host_.host("/torch.whl", {.content = packed_, .etag = "\"1\""});
  }

  Result<fetch::Fetched> fetch() {
    FetchProgram fetcher{loop_.get_executor(), FETCH_PROGRAM};
    return tests::run(loop_, fetcher.fetch(request_));
  }

  std::size_t files_unpacked() const {
    auto const is_file = [](fs::directory_entry const& entry) {
      return entry.is_regular_file() && entry.path().filename() != fetch::answer_file;
    };
    fs::recursive_directory_iterator const all{request_.directory};
    return static_cast<std::size_t>(std::count_if(begin(all), end(all), is_file));
  }

  tests::TemporaryFolder folder_;
  fakes::DownloadHost host_;
  fetch::FetchRequest request_;
  std::string packed_;
  asio::io_context loop_{1};
};

TEST_F(FetcherTest, DownloadsAndUnpacks) {
  host(3, "hello");

  auto const fetched = fetch();

  ASSERT_TRUE(fetched.has_value()) << fetched.error().message;
  EXPECT_EQ(fetched->download.end, fetch::Downloaded::End::whole);
  EXPECT_EQ(fetched->download.validators.etag, "\"1\"");
  EXPECT_EQ(fetched->unpacked.entries, 3);
  EXPECT_EQ(text_of(request_.directory / "torch/2"), "hello");
  EXPECT_FALSE(fs::exists(request_.file)) << "it is no longer needed";
}

TEST_F(FetcherTest, KeepsItsAnswerInTheDirectoryForACallerThatWasKilled) {
  host(3, "hello");
  auto const fetched = fetch();
  ASSERT_TRUE(fetched.has_value()) << fetched.error().message;

  auto const kept = fetch::kept_answer(request_.directory);

  ASSERT_TRUE(kept.has_value()) << kept.error().message;
  EXPECT_EQ(kept->download.sha256, fetched->download.sha256);
  EXPECT_EQ(kept->download.bytes, fetched->download.bytes);
  EXPECT_EQ(kept->download.validators.etag, "\"1\"");
}

TEST_F(FetcherTest, KeepsItsOwnAnswerWhereTheArchiveHasOne) {
  ArchiveWriter writer{folder_ / "made", ArchiveWriter::Format::zip};
  writer.add_file(std::string{fetch::answer_file} + "/torch", "x");
  writer.close();
  host_.host("/torch.whl", {.path = folder_ / "made", .etag = "\"1\""});
  ASSERT_TRUE(fetch().has_value());
  EXPECT_TRUE(fetch::kept_answer(request_.directory).has_value());
}

TEST_F(FetcherTest, DownloadsAlone) {
  host(1, "hello");
  request_.directory.clear();

  ASSERT_TRUE(fetch().has_value());

  EXPECT_TRUE(text_of(request_.file) == packed_);
}

TEST_F(FetcherTest, ReportsAMissingFile) {
  auto const fetched = fetch();
  ASSERT_TRUE(fetched.has_value()) << fetched.error().message;
  EXPECT_EQ(fetched->download.end, fetch::Downloaded::End::absent);
  EXPECT_FALSE(fs::exists(request_.directory));
}

TEST_F(FetcherTest, KeepsTheKindOfAnError) {
  host_.fail({{.status = 403}});
  auto const refused = fetch();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::refused);

  host_.host("/torch.whl", {.content = "no archive"});
  auto const damaged = fetch();
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(damaged.error().code, ErrorCode::unavailable) << "it may be whole another time";
  EXPECT_FALSE(fs::exists(request_.file)) << "a useless archive";

  Sha256 digest;
  digest.add("no archive");
  request_.download.sha256 = digest.hex();
  auto const corrupt = fetch();
  ASSERT_FALSE(corrupt.has_value());
  EXPECT_EQ(corrupt.error().code, ErrorCode::corrupt) << "it was published so";
}

/// A cache serves a file that is shorter than the uploaded one, with that length.
TEST_F(FetcherTest, FailsWithAFileThatACacheCutOffUntilItIsWhole) {
  host(3, "hello");
  host_.fail({{.length = 100}});
  auto const cut = fetch();
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(fs::exists(request_.directory));

  ASSERT_TRUE(fetch().has_value());
  EXPECT_EQ(files_unpacked(), 3U);
}

TEST_F(FetcherTest, RefusesAnArchiveThatBreaksARuleForGood) {
  ArchiveWriter writer{folder_ / "made", ArchiveWriter::Format::zip};
  writer.add_file("../evil", "x");
  writer.close();
  host_.host("/torch.whl", {.path = folder_ / "made", .etag = "\"1\""});
  auto const refused = fetch();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
}

TEST_F(FetcherTest, RefusesAWheelWithoutARecord) {
  host(1, "hello");
  request_.is_wheel = true;
  auto const fetched = fetch();
  ASSERT_FALSE(fetched.has_value());
  EXPECT_THAT(fetched.error().message, HasSubstr("does not have exactly one *.dist-info/RECORD"));
  EXPECT_EQ(folder_.entries(), 0);
}

TEST_F(FetcherTest, AnswersWithWhatARecordDoesNotList) {
  host(2, "hello", "torch/0,,5\n");
  request_.is_wheel = true;
  auto const fetched = fetch();
  ASSERT_TRUE(fetched.has_value()) << fetched.error().message;
  EXPECT_EQ(fetched->record_warning, "RECORD: torch/1 is not listed");
  EXPECT_EQ(files_unpacked(), 3U);
}

TEST_F(FetcherTest, AcceptsAWheelWithThePublishedDigestWithoutARecord) {
  host(1, "hello");
  Sha256 digest;
  digest.add(packed_);
  request_.download.sha256 = digest.hex();
  request_.is_wheel = true;
  auto const fetched = fetch();
  ASSERT_TRUE(fetched.has_value()) << fetched.error().message;
  EXPECT_EQ(fetched->record_warning, "");
  EXPECT_EQ(files_unpacked(), 1U);
}

/// A kill came between the download and the unpacking: the file is checked again.
TEST_F(FetcherTest, AcceptsAWheelThatAKilledCallDownloadedWithThePublishedDigest) {
  host(1, "hello");
  Sha256 digest;
  digest.add(packed_);
  request_.download.sha256 = digest.hex();
  request_.is_wheel = true;
  std::ofstream{request_.file, std::ios::binary} << packed_;
  auto const fetched = fetch();
  ASSERT_TRUE(fetched.has_value()) << fetched.error().message;
  EXPECT_EQ(files_unpacked(), 1U);
}

TEST_F(FetcherTest, LeavesADirectoryThatIsThereAlone) {
  host(1, "hello");
  fs::create_directory(request_.directory);
  auto const fetched = fetch();
  ASSERT_FALSE(fetched.has_value());
  EXPECT_EQ(fetched.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(host_.requests().empty());
}

TEST_F(FetcherTest, DownloadsAgainWhatAPowerCutLeftOfAFile) {
  host(3, "hello");
  std::ofstream{request_.file} << std::string(packed_.size(), '\0');

  auto const fetched = fetch();

  ASSERT_TRUE(fetched.has_value()) << fetched.error().message;
  EXPECT_EQ(files_unpacked(), 3U);
}

TEST_F(FetcherTest, DownloadsADamagedArchiveOnlyOnce) {
  host_.host("/torch.whl", {.content = "no archive", .etag = "\"1\""});

  auto const fetched = fetch();

  ASSERT_FALSE(fetched.has_value());
  EXPECT_EQ(fetched.error().code, ErrorCode::unavailable);
  EXPECT_EQ(host_.requests().size(), 1U);
}

TEST_F(FetcherTest, HidesTheKeyInAnAddress) {
  request_.download.url += "?sig=secret";
  FetchProgram dies{loop_.get_executor(), "/bin/false"};
  auto const died = tests::run(loop_, dies.fetch(request_));
  ASSERT_FALSE(died.has_value());
  EXPECT_THAT(died.error().message, HasSubstr("/torch.whl"));
  EXPECT_THAT(died.error().message, testing::Not(HasSubstr("secret")));
}

TEST_F(FetcherTest, NamesAMissingProgram) {
  FetchProgram fetcher{loop_.get_executor(), "/none/torchwatch-fetch"};
  auto const fetched = tests::run(loop_, fetcher.fetch(request_));
  ASSERT_FALSE(fetched.has_value());
  EXPECT_EQ(fetched.error().code, ErrorCode::not_found);
}

TEST_F(FetcherTest, ReportsAProgramThatCrashesOrPrintsNonsense) {
  FetchProgram dies{loop_.get_executor(), "/bin/false"};
  auto const died = tests::run(loop_, dies.fetch(request_));
  ASSERT_FALSE(died.has_value());
  EXPECT_EQ(died.error().code, ErrorCode::unavailable);

  FetchProgram echoes{loop_.get_executor(), "/bin/cat"};
  auto const echoed = tests::run(loop_, echoes.fetch(request_));
  ASSERT_FALSE(echoed.has_value());
  EXPECT_EQ(echoed.error().code, ErrorCode::corrupt);
}

TEST_F(FetcherTest, EndsWithItsLimit) {
  host_.fail({{.delay = std::chrono::minutes{1}}});
  request_.download.limit = std::chrono::seconds{1};
  auto const begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(fetch().has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{20});
}

/// Kills the program at random moments until one run succeeds. The files are complete then, and
/// nothing is downloaded twice.
TEST_F(FetcherTest, MayBeKilledAnywhere) {
  constexpr std::size_t files = 400;
  host(files, noise(100'000));
  host_.host("/torch.whl",
             {.content = packed_, .etag = "\"1\"", .pause = std::chrono::milliseconds{2}});
  std::mt19937 random{1};
  int kills = 0;
  while (true) {
    // Longer and longer in the end: a busy host takes long to start a program.
    int const longest = 60 * std::max(1, kills - 30);
    std::uniform_int_distribution<int> milliseconds{1, longest};
    process::Command command;
    command.argv = {FETCH_PROGRAM};
    auto program = process::ChildProcess::start(loop_.get_executor(), command).value();
    ASSERT_TRUE(tests::run(loop_, program.write_line(encode(request_))));
    std::this_thread::sleep_for(std::chrono::milliseconds{milliseconds(random)});
    program.kill_group();
    tests::run(loop_, program.wait());
    if (fs::exists(request_.directory)) break;
    if (fs::exists(request_.file)) {
      EXPECT_EQ(fs::file_size(request_.file), packed_.size());
    }
    ASSERT_LT(++kills, 100) << "it makes no progress";
  }
  EXPECT_EQ(files_unpacked(), files);
  EXPECT_GE(kills, 25);
  std::int64_t newest = 0;
  for (auto const& request : host_.requests()) {
    auto const range = request.headers.find("range");
    auto const start = range == request.headers.end() ? 0 : std::stoll(range->second.substr(6));
    EXPECT_GE(start, newest) << "downloaded again";
    newest = start;
  }
  EXPECT_GT(newest, 0);
}

}  // namespace
}  // namespace torchwatch::builds
