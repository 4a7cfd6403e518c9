#include "daemon/builds/artifacts.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "daemon/builds/recipe_builder.h"
#include "storage/base/digest.h"
#include "storage/store.h"
#include "tests/api/live_server.h"
#include "tests/fakes/downloads/download_host.h"
#include "tests/fakes/memory/scripted_budget.h"
#include "tests/fetch/archive_writer.h"
#include "tests/runner/run.h"
#include "tests/temporary_folder.h"

namespace torchwatch::builds {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::text_of;

/// A directory in which builds are packed.
class Directory {
 public:
  fs::path operator/(std::string const& name) const { return folder_ / name; }

  std::string string() const { return folder_.path().string(); }

  /// Makes a build of `commit` in a directory.
  void build(std::string const& name, CommitSha const& commit) const {
    fs::create_directories(folder_ / name / "lib");
    std::ofstream{folder_ / name / "build.json"} << R"({"commit": ")" << commit.hex << "\"}";
    std::ofstream library{folder_ / name / "lib" / "libtorch.so"};
    unsigned value = 1;
    for (int i = 0; i < 100'000; ++i)  // does not compress well
      library << static_cast<char>((value = value * 1'664'525 + 1'013'904'223) >> 24);
  }

  /// Runs bsdtar in this directory.
  void bsdtar(std::string const& arguments) const {
    auto const command = "cd '" + string() + "' && bsdtar " + arguments;
    if (std::system(command.c_str()) != 0) throw std::runtime_error{command};
  }

 private:
  tests::TemporaryFolder folder_;
};

std::string sha256_of(fs::path const& file) {
  Sha256 digest;
  digest.add(text_of(file));
  return digest.hex();
}

http::HttpResponse answer(int status, std::string body = {}) {
  http::HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

/// Serves the given replies. Of several replies to one target, each request gets the next one, and
/// later requests the last.
class Server {
 public:
  void serve(std::string const& target, std::vector<http::HttpResponse> answers) {
    std::scoped_lock const lock{mutex_};
    answers_[target] = std::move(answers);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }

  int times_asked() {
    std::scoped_lock const lock{mutex_};
    return times_asked_;
  }

 private:
  http::HttpResponse next(std::string const& target) {
    std::scoped_lock const lock{mutex_};
    ++times_asked_;
    auto const found = answers_.find(target);
    if (found == answers_.end()) return answer(404);
    auto& answers = found->second;
    auto const next = answers.front();
    if (answers.size() > 1) answers.erase(answers.begin());
    return next;
  }

  std::mutex mutex_;
  int times_asked_ = 0;
  std::map<std::string, std::vector<http::HttpResponse>> answers_;
  tests::LiveServer server_{
      [this](http::HttpRequest request) -> asio::awaitable<http::HttpResponse> {
        co_return next(request.target);
      }};
};

class MovedClock final : public Clock {
 public:
  Timestamp now() const override { return time; }

  Timestamp time{std::chrono::hours{1'000}};
};

class ArtifactsTest : public testing::Test {
 protected:
  using Prefix = std::optional<fs::path>;

  ArtifactsTest() { ::setenv("no_proxy", "127.0.0.1", 1); }

  Result<Prefix> fetch(std::string const& place,
                       std::chrono::seconds timeout = std::chrono::seconds{25}) {
    Artifacts const artifacts{fetcher_, {place, digests_}, timeout};
    return tests::run(loop_, artifacts.download(commit_, here_ / "work"));
  }

  /// Serves a file of this directory at the commit's URL.
  Result<Prefix> fetch_file(std::string const& name) {
    server_.serve("/" + commit_.hex + "/file", {answer(200, text_of(here_ / name))});
    return fetch(server_.url() + "/{commit}/file");
  }

  void expect_unavailable(Result<Prefix> const& fetched, std::string const& reason) const {
    expect_failed(ErrorCode::unavailable, fetched, reason);
  }

  /// The error is permanent.
  void expect_no_good(Result<Prefix> const& fetched, std::string const& reason) const {
    expect_failed(ErrorCode::corrupt, fetched, reason);
  }

  void expect_failed(ErrorCode code,
                     Result<Prefix> const& fetched,
                     std::string const& reason) const {
    ASSERT_FALSE(fetched);
    EXPECT_EQ(fetched.error().code, code);
    EXPECT_THAT(fetched.error().message,
                AllOf(testing::StartsWith("artifact " + server_.url() + "/" + commit_.hex),
                      HasSubstr(reason),
                      testing::Not(HasSubstr("\n"))));
  }

  /// Serves an archive of this directory, and a file with its SHA-256 next to it.
  Result<Prefix> fetch_with_digest(std::string const& name, std::string const& digest_file) {
    server_.serve("/" + commit_.hex + "/file.sha256?q", {answer(200, digest_file)});
    server_.serve("/" + commit_.hex + "/file?q", {answer(200, text_of(here_ / name))});
    return fetch(server_.url() + "/{commit}/file?q");
  }

  void expect_nothing_left() const {
    EXPECT_FALSE(fs::exists(here_ / "work/unpacked"));
    EXPECT_FALSE(fs::exists(here_ / "work/archive"));
    EXPECT_FALSE(fs::exists(here_ / "work/archive.part"));
  }

  CommitSha const commit_{std::string(40, 'c')};
  std::string digests_;  // source.artifacts_sha256
  Directory here_;
  Server server_;
  asio::io_context loop_{1};
  FetchProgram fetcher_{loop_.get_executor(), FETCH_PROGRAM};
};

TEST_F(ArtifactsTest, ComeInWhateverArchiveTheyArePacked) {
  here_.build("torch", commit_);
  for (std::string const kind : {"torch.zip", "torch.tar.gz", "torch.tar.zst", "torch.tar"}) {
    here_.bsdtar("--auto-compress -c -f " + kind + " torch");

    auto const prefix = fetch_file(kind);

    ASSERT_TRUE(prefix) << prefix.error().message;
    ASSERT_TRUE(*prefix) << kind;
    EXPECT_TRUE((*prefix)->is_absolute());
    EXPECT_EQ((*prefix)->string().find(here_.string()), 0U) << "not under the work directory";
    EXPECT_EQ(text_of(**prefix / "build.json"), text_of(here_ / "torch/build.json"));
    EXPECT_EQ(text_of(**prefix / "lib/libtorch.so"), text_of(here_ / "torch/lib/libtorch.so"));
  }
}

TEST_F(ArtifactsTest, MayLieAtTheTopOfTheirArchive) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f top.tar -C torch build.json lib");

  auto const prefix = fetch_file("top.tar");

  ASSERT_TRUE(prefix) << prefix.error().message;
  EXPECT_TRUE(fs::exists(**prefix / "lib/libtorch.so"));
}

TEST_F(ArtifactsTest, LeaveNothingOfTheLastAttempt) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  here_.build("work/unpacked/other", commit_);

  auto const prefix = fetch_file("torch.tar");

  ASSERT_TRUE(prefix) << prefix.error().message;
  EXPECT_EQ((*prefix)->filename(), "torch");
  EXPECT_FALSE(fs::exists((*prefix)->parent_path() / "other"));
}

TEST_F(ArtifactsTest, HaveTheCommitWhereverTheUrlNamesIt) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  server_.serve("/" + commit_.hex + "/torch-" + commit_.hex + ".tar?q=%5B1%5D",
                {answer(200, text_of(here_ / "torch.tar"))});

  auto const prefix = fetch(server_.url() + "/{commit}/torch-{commit}.tar?q=%5B1%5D");

  ASSERT_TRUE(prefix) << prefix.error().message;
  EXPECT_TRUE(*prefix);
}

TEST_F(ArtifactsTest, ThatTheServerDoesNotHaveAreNotAnError) {
  server_.serve("/gone/" + commit_.hex, {answer(410)});

  auto const missing = fetch(server_.url() + "/none/{commit}");
  auto const gone = fetch(server_.url() + "/gone/{commit}");

  ASSERT_TRUE(missing) << missing.error().message;
  EXPECT_FALSE(*missing);
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_FALSE(*gone);
  EXPECT_EQ(server_.times_asked(), 4) << "each for its SHA-256, too";
}

TEST_F(ArtifactsTest, AreFetchedFromWhereTheServerSends) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  auto elsewhere = answer(302);
  elsewhere.headers["location"] = "/store";
  server_.serve("/" + commit_.hex, {elsewhere});
  server_.serve("/store", {answer(200, text_of(here_ / "torch.tar"))});

  auto const prefix = fetch(server_.url() + "/{commit}");

  ASSERT_TRUE(prefix) << prefix.error().message;
  EXPECT_TRUE(*prefix);
}

TEST_F(ArtifactsTest, AreNotFetchedFromFiles) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  auto elsewhere = answer(302);
  elsewhere.headers["location"] = "file://" + (here_ / "torch.tar").string();
  server_.serve("/" + commit_.hex, {elsewhere});

  expect_failed(
      ErrorCode::refused, fetch(server_.url() + "/{commit}"), "it is redirected to \"file:///");
}

TEST_F(ArtifactsTest, AreAskedForAgainWhenTheServerIsBusy) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  server_.serve("/" + commit_.hex,
                {answer(503, "come back later"), answer(200, text_of(here_ / "torch.tar"))});

  auto const prefix = fetch(server_.url() + "/{commit}");

  ASSERT_TRUE(prefix) << prefix.error().message;
  EXPECT_TRUE(*prefix);
}

TEST_F(ArtifactsTest, OfAServerThatKeepsFailingAreUnavailable) {
  server_.serve("/" + commit_.hex, {answer(500)});

  expect_unavailable(fetch(server_.url() + "/{commit}"), "the server responded with 500");
  EXPECT_EQ(server_.times_asked(), 5) << "one for its SHA-256";
}

TEST_F(ArtifactsTest, ThatTheServerDoesNotGiveAreRefused) {
  server_.serve("/" + commit_.hex, {answer(403)});
  expect_failed(
      ErrorCode::refused, fetch(server_.url() + "/{commit}"), "the server responded with 403");
}

TEST_F(ArtifactsTest, WhoseDigestIsThereMayComeLater) {
  server_.serve("/" + commit_.hex + ".sha256", {answer(200, std::string(64, 'a'))});
  expect_unavailable(fetch(server_.url() + "/{commit}"), "the server has no such file yet");
  digests_ = (here_ / "{commit}.sha256").string();
  std::ofstream{here_ / (commit_.hex + ".sha256")} << std::string(64, 'a');
  expect_unavailable(fetch(server_.url() + "/{commit}"), "the server has no such file yet");
}

TEST_F(ArtifactsTest, ThatDoNotComeCostTheirCommitAloneWhereThereIsNoRecipe) {
  config::Options options;
  options.state_dir = here_ / "state";
  options.source.artifacts = server_.url() + "/{commit}";
  Workshop workshop{loop_.get_executor(), options};
  auto store = storage::Store::open(here_ / "store").value();
  MovedClock clock;
  fakes::ScriptedBudget budget;
  RecipeBuilder builder{loop_.get_executor(), workshop, fetcher_, budget, store, clock};
  auto const build = [&] {
    return tests::run(loop_, builder.build(commit_, RecipeId{}, From::anywhere));
  };

  for (int const status : {403, 500}) {
    server_.serve("/" + commit_.hex, {answer(status)});
    auto const may_come = build();
    ASSERT_TRUE(may_come) << may_come.error().message;
    EXPECT_FALSE(may_come->build);
    EXPECT_TRUE(may_come->may_pass) << status;
    EXPECT_THAT(may_come->note, HasSubstr("the server responded with " + std::to_string(status)));
  }

  here_.build("torch/one", commit_);
  here_.build("torch/other", commit_);
  here_.bsdtar("-c -f two.tar -C torch one other");
  server_.serve("/" + commit_.hex, {answer(200, text_of(here_ / "two.tar"))});
  EXPECT_FALSE(build().value().may_pass) << "it is complete, but damaged";
}

TEST_F(ArtifactsTest, ThatAreNotThereAreNotWaitedFor) {
  config::Options options;
  options.state_dir = here_ / "state";
  options.source.artifacts = server_.url() + "/{commit}";
  Workshop workshop{loop_.get_executor(), options};
  auto store = storage::Store::open(here_ / "store").value();
  MovedClock clock;
  fakes::ScriptedBudget budget;
  RecipeBuilder builder{loop_.get_executor(), workshop, fetcher_, budget, store, clock};

  for (int const status : {404, 410}) {
    server_.serve("/" + commit_.hex, {answer(status)});
    auto const none = tests::run(loop_, builder.build(commit_, RecipeId{}, From::anywhere)).value();
    EXPECT_FALSE(none.build);
    EXPECT_FALSE(none.may_pass) << status;
    EXPECT_THAT(none.note, HasSubstr("no artifact is there"));
  }
}

TEST_F(ArtifactsTest, AreMade_WithTheDiskBudgetAskedBeforeAndAfter) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  server_.serve("/" + commit_.hex, {answer(403), answer(200, text_of(here_ / "torch.tar"))});
  config::Options options;
  options.state_dir = here_ / "state";
  options.source.artifacts = server_.url() + "/{commit}";
  Workshop workshop{loop_.get_executor(), options};
  auto store = storage::Store::open(here_ / "store").value();
  MovedClock clock;
  std::vector<std::string> asked;
  auto const count = [&](std::string const& folder) {
    fs::directory_iterator const all{here_ / "state" / folder};
    return std::to_string(std::distance(all, fs::directory_iterator{})) + " in " + folder;
  };
  fakes::ScriptedBudget budget;
  budget.before = [&] {
    asked.push_back("before: " + count("builds"));
  };
  budget.after = [&] {
    asked.push_back("after: " + count("builds") + ", " + count("work"));
  };
  RecipeBuilder builder{loop_.get_executor(), workshop, fetcher_, budget, store, clock};
  auto const build = [&] {
    return tests::run(loop_, builder.build(commit_, RecipeId{}, From::anywhere));
  };

  ASSERT_FALSE(build().value().build) << "refused";
  EXPECT_THAT(asked, ElementsAre("before: 0 in builds", "after: 0 in builds, 0 in work"));
  asked.clear();
  ASSERT_TRUE(build().value().build);
  EXPECT_THAT(asked, ElementsAre("before: 0 in builds", "after: 1 in builds, 0 in work"));
  asked.clear();
  ASSERT_TRUE(build().value().build) << "it is there";
  EXPECT_THAT(asked, testing::IsEmpty());
}

TEST_F(ArtifactsTest, HideTheKeyInTheirAddress) {
  auto const fetched = fetch("http://ada:secret@127.0.0.1:1/{commit}.zip?sig=secret");
  ASSERT_FALSE(fetched);
  EXPECT_THAT(fetched.error().message,
              AllOf(HasSubstr("http://127.0.0.1:1/" + commit_.hex + ".zip?..."),
                    testing::Not(HasSubstr("secret"))));
}

TEST_F(ArtifactsTest, AtAPortWithoutAListenerAreUnavailable) {
  auto const fetched = fetch("http://127.0.0.1:1/{commit}.zip");  // a port without a listener

  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::unavailable);
  EXPECT_THAT(fetched.error().message,
              AllOf(testing::StartsWith("artifact http://127.0.0.1:1/" + commit_.hex + ".zip: "),
                    HasSubstr("connect")));
}

TEST_F(ArtifactsTest, ThatTakeTooLongAreUnavailable) {
  server_.serve("/" + commit_.hex, {answer(500)});  // it would rest for seven seconds

  expect_unavailable(fetch(server_.url() + "/{commit}", std::chrono::seconds{2}),
                     "time limit");  // from the program, or from its caller
}

TEST_F(ArtifactsTest, ThatAreNotWholeMayBeWholeAnotherTime) {
  here_.build("torch", commit_);
  for (std::string const kind : {"torch.zip", "torch.tar.gz"}) {
    here_.bsdtar("--auto-compress -c -f " + kind + " torch");
    fs::resize_file(here_ / kind, fs::file_size(here_ / kind) / 2);

    expect_unavailable(fetch_file(kind), ": archive ");
  }
}

TEST_F(ArtifactsTest, ThatAreNoArchiveMayBeOneAnotherTime) {
  std::ofstream{here_ / "page"} << "<html>Please log in</html>";
  std::ofstream{here_ / "nothing"};

  expect_unavailable(fetch_file("page"), ": archive ");
  expect_unavailable(fetch_file("nothing"), ": archive ");
}

TEST_F(ArtifactsTest, WithoutBuildJsonAreRejected) {
  here_.build("torch", commit_);
  here_.build("other", commit_);
  here_.bsdtar("-c -f two.tar torch other");
  here_.bsdtar("-c -f deep.tar -s '|^torch|a/torch|' torch");

  expect_no_good(fetch_file("two.tar"), "holds no build.json");
  expect_no_good(fetch_file("deep.tar"), "holds no build.json");
}

TEST_F(ArtifactsTest, WriteNothingOutsideOfTheirDirectory) {
  here_.build("torch", commit_);
  std::ofstream{here_ / "evil"} << "evil";
  fs::create_symlink(here_.string(), here_ / "link");
  here_.bsdtar("-P -c -f up.tar -s '|^evil|../evil|' torch evil");
  here_.bsdtar("-P -c -f up.zip --format zip -s '|^evil|../evil|' torch evil");
  here_.bsdtar("-P -c -f through.tar -s '|^evil|link/through|' torch link evil");

  for (std::string const name : {"up.tar", "up.zip", "through.tar"}) {
    expect_no_good(fetch_file(name), ": archive ");
    EXPECT_FALSE(fs::exists(here_ / "work/evil")) << name;
    EXPECT_FALSE(fs::exists(here_ / "through")) << name;
  }
}

TEST_F(ArtifactsTest, WithAnAbsoluteNameAreRejected) {
  here_.build("torch", commit_);
  std::ofstream{here_ / "evil"} << "evil";
  auto const outside = here_ / "outside";
  here_.bsdtar("-P -c -f absolute.tar -s '|^evil|" + outside.string() + "|' torch/lib evil");

  expect_no_good(fetch_file("absolute.tar"), "its path is absolute");
  EXPECT_FALSE(fs::exists(outside));
}

TEST_F(ArtifactsTest, HaveTheSha256NextToThem) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  auto digest = sha256_of(here_ / "torch.tar");

  for (auto const& written : {digest,
                              digest + "\n",
                              digest + "  torch.tar\n",
                              boost::to_upper_copy(digest) + " *torch.tar\r\n"}) {
    auto const prefix = fetch_with_digest("torch.tar", written);

    ASSERT_TRUE(prefix) << prefix.error().message;
    EXPECT_TRUE(*prefix);
  }
}

TEST_F(ArtifactsTest, OfAnotherSha256AreRefusedAndGone) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  std::string const published(64, 'a');

  expect_unavailable(
      fetch_with_digest("torch.tar", published),
      "published with the SHA-256 " + published + ", found " + sha256_of(here_ / "torch.tar"));

  expect_nothing_left();
}

TEST_F(ArtifactsTest, WithADigestThatIsNoneAreNotAskedFor) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  auto const digest = sha256_of(here_ / "torch.tar");

  for (std::string const& nonsense : {std::string{},
                                      digest.substr(1),
                                      digest + "0",
                                      digest + "\n" + digest,
                                      std::string{"<html>Log in</html>"}})
    expect_no_good(fetch_with_digest("torch.tar", nonsense), "file.sha256?...: not a SHA-256");

  expect_no_good(fetch_with_digest("torch.tar", std::string(5000, 'a')), "more than 4096 bytes");
  EXPECT_EQ(server_.times_asked(), 6);
  expect_nothing_left();
}

TEST_F(ArtifactsTest, HaveTheSha256OfAFileOnThisHost) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  std::ofstream{here_ / (commit_.hex + ".sha256")} << sha256_of(here_ / "torch.tar");
  digests_ = (here_ / "{commit}.sha256").string();

  auto const prefix = fetch_file("torch.tar");
  ASSERT_TRUE(prefix) << prefix.error().message;
  EXPECT_TRUE(*prefix);

  here_.bsdtar("-c -f other.tar -C torch build.json lib");
  expect_unavailable(fetch_file("other.tar"), "published with the SHA-256 ");
  expect_nothing_left();
}

TEST_F(ArtifactsTest, WithoutTheSha256ThatIsRequiredAreRefused) {
  here_.build("torch", commit_);
  here_.bsdtar("-c -f torch.tar torch");
  digests_ = server_.url() + "/digests/{commit}";

  expect_unavailable(fetch_file("torch.tar"),
                     "it has no SHA-256 at " + server_.url() + "/digests/");
  auto const missing = fetch(server_.url() + "/none/{commit}");

  ASSERT_TRUE(missing) << missing.error().message;
  EXPECT_FALSE(*missing) << "neither is there";
  expect_nothing_left();
}

TEST_F(ArtifactsTest, ThatArriveTooSlowlyAreGivenUp) {
  fakes::DownloadHost host;
  fakes::HostedFile slow;
  slow.content = std::string(64 << 20, 'x');
  slow.pause = std::chrono::milliseconds{500};
  host.host("/" + commit_.hex, slow);
  auto const began = std::chrono::steady_clock::now();

  auto const fetched = fetch(host.url() + "/{commit}", std::chrono::seconds{2});

  ASSERT_FALSE(fetched);
  EXPECT_THAT(fetched.error().message, HasSubstr("time limit"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{10});
}

TEST_F(ArtifactsTest, AreRedirectedFiveTimesAtMost) {
  fakes::DownloadHost host;
  fakes::HostedFile round;
  round.redirect = "/" + commit_.hex;
  host.host(round.redirect, round);

  auto const fetched = fetch(host.url() + "/{commit}");

  ASSERT_FALSE(fetched);
  EXPECT_THAT(fetched.error().message, HasSubstr("redirected more than 5 times"));
}

TEST_F(ArtifactsTest, ThatUnpackToMoreThanTheLimitAreRejected) {
  fetch::ArchiveWriter writer{here_ / "bomb.tar.zst", fetch::ArchiveWriter::Format::tar_zst};
  writer.add_zeros("torch/lib/libtorch.so", 2LL << 30);
  writer.close();

  expect_no_good(fetch_file("bomb.tar.zst"), "it unpacks to more than ");
  expect_nothing_left();
}

TEST_F(ArtifactsTest, WithADeviceAreRejected) {
  fetch::ArchiveWriter writer{here_ / "device.tar.zst", fetch::ArchiveWriter::Format::tar_zst};
  writer.add_special("torch/null", S_IFCHR);
  writer.close();

  expect_no_good(fetch_file("device.tar.zst"), "neither file, directory nor symbolic link");
  expect_nothing_left();
}

TEST_F(ArtifactsTest, WithTooManyEntriesAreRejected) {
  fetch::ArchiveWriter writer{here_ / "many.tar.zst", fetch::ArchiveWriter::Format::tar_zst};
  for (int i = 0; i < 100'001; ++i)
    writer.add_directory(std::to_string(i));
  writer.close();

  expect_no_good(fetch_file("many.tar.zst"), "allowed are 100000 entries");
  expect_nothing_left();
}

TEST_F(ArtifactsTest, InDirectoriesAreFoundWhereTheyAre) {
  here_.build("builds/" + commit_.hex, commit_);
  auto const place = (here_ / "builds/{commit}").string();
  Artifacts const artifacts{fetcher_, {place}, std::chrono::seconds{1}};

  auto const build = artifacts.find(commit_);

  ASSERT_TRUE(build);
  EXPECT_EQ(build->manifest.commit, commit_);
  EXPECT_EQ(build->prefix, (here_ / "builds" / commit_.hex).string());
  EXPECT_FALSE(fetch(place).value()) << "there is nothing to fetch";
}

TEST_F(ArtifactsTest, InDirectoriesAreRefusedWhenTheyAreNotOfTheCommit) {
  CommitSha const other{std::string(40, 'd')};
  here_.build("builds/" + other.hex, commit_);
  fs::create_directories(here_ / "builds" / commit_.hex);
  Artifacts const artifacts{
      fetcher_, {(here_ / "builds/{commit}").string()}, std::chrono::seconds{1}};

  EXPECT_FALSE(artifacts.find(other)) << "it is another commit's";
  EXPECT_FALSE(artifacts.find(commit_)) << "it has no build.json";
  EXPECT_FALSE(artifacts.find({std::string(40, 'e')})) << "there is none";
}

TEST_F(ArtifactsTest, AreNowhereUntilAPlaceIsNamed) {
  Artifacts const nowhere{fetcher_, {""}, std::chrono::seconds{1}};
  Artifacts const remote{fetcher_, {server_.url() + "/{commit}"}, std::chrono::seconds{1}};

  EXPECT_FALSE(nowhere.find(commit_));
  EXPECT_FALSE(remote.find(commit_));
  EXPECT_FALSE(fetch("").value());
  EXPECT_EQ(server_.times_asked(), 0);
}

}  // namespace
}  // namespace torchwatch::builds
