#include "daemon/build/artifacts.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "tests/api/live_server.h"
#include "tests/runner/run.h"
#include "tests/temporary_folder.h"

namespace torchwatch::build {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using testing::AllOf;
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

  /// Runs bsdtar in here.
  void bsdtar(std::string const& arguments) const {
    auto const command = "cd '" + string() + "' && bsdtar " + arguments;
    if (std::system(command.c_str()) != 0) throw std::runtime_error{command};
  }

 private:
  tests::TemporaryFolder folder_;
};

net::HttpResponse answer(int status, std::string body = {}) {
  net::HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

/// Serves what it is told; of several answers to one target the next each time, then the last.
class Server {
 public:
  void serve(std::string const& target, std::vector<net::HttpResponse> answers) {
    std::scoped_lock const lock{mutex_};
    answers_[target] = std::move(answers);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }

  int times_asked() {
    std::scoped_lock const lock{mutex_};
    return times_asked_;
  }

 private:
  net::HttpResponse next(std::string const& target) {
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
  std::map<std::string, std::vector<net::HttpResponse>> answers_;
  tests::LiveServer server_{[this](net::HttpRequest request) -> asio::awaitable<net::HttpResponse> {
    co_return next(request.target);
  }};
};

class ArtifactsTest : public testing::Test {
 protected:
  using Prefix = std::optional<fs::path>;

  ArtifactsTest() { ::setenv("no_proxy", "127.0.0.1", 1); }

  Result<Prefix> fetch(std::string const& place,
                       std::chrono::seconds timeout = std::chrono::seconds{25}) {
    Artifacts const artifacts{fetcher_, place, timeout};
    return tests::run(loop_, artifacts.download(commit_, here_ / "work"));
  }

  /// Serves a file that is in here at the commit's URL.
  Result<Prefix> fetch_file(std::string const& name) {
    server_.serve("/" + commit_.hex + "/file", {answer(200, text_of(here_ / name))});
    return fetch(server_.url() + "/{commit}/file");
  }

  void expect_unavailable(Result<Prefix> const& fetched, std::string const& reason) const {
    ASSERT_FALSE(fetched);
    EXPECT_EQ(fetched.error().code, ErrorCode::unavailable);
    EXPECT_THAT(fetched.error().message,
                AllOf(testing::StartsWith("artifact " + server_.url() + "/" + commit_.hex),
                      HasSubstr(reason),
                      testing::Not(HasSubstr("\n"))));
  }

  CommitSha const commit_{std::string(40, 'c')};
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

TEST_F(ArtifactsTest, ThatTheServerDoesNotHaveAreNoTrouble) {
  server_.serve("/gone/" + commit_.hex, {answer(410)});

  auto const missing = fetch(server_.url() + "/none/{commit}");
  auto const gone = fetch(server_.url() + "/gone/{commit}");

  ASSERT_TRUE(missing) << missing.error().message;
  EXPECT_FALSE(*missing);
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_FALSE(*gone);
  EXPECT_EQ(server_.times_asked(), 2);
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

  expect_unavailable(fetch(server_.url() + "/{commit}"), "it is redirected to \"file:///");
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

  expect_unavailable(fetch(server_.url() + "/{commit}"), "the server answers 500");
  EXPECT_EQ(server_.times_asked(), 4);
}

TEST_F(ArtifactsTest, OfNobodyAreUnavailable) {
  auto const fetched = fetch("http://127.0.0.1:1/{commit}.zip");  // a port that nobody listens at

  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::unavailable);
  EXPECT_THAT(fetched.error().message,
              AllOf(testing::StartsWith("artifact http://127.0.0.1:1/" + commit_.hex + ".zip: "),
                    HasSubstr("connect")));
}

TEST_F(ArtifactsTest, ThatTakeTooLongAreUnavailable) {
  server_.serve("/" + commit_.hex, {answer(500)});  // it would rest for seven seconds

  expect_unavailable(fetch(server_.url() + "/{commit}", std::chrono::seconds{2}),
                     "it took too long");
}

TEST_F(ArtifactsTest, ThatAreNotWholeAreUnavailable) {
  here_.build("torch", commit_);
  for (std::string const kind : {"torch.zip", "torch.tar.gz"}) {
    here_.bsdtar("--auto-compress -c -f " + kind + " torch");
    fs::resize_file(here_ / kind, fs::file_size(here_ / kind) / 2);

    expect_unavailable(fetch_file(kind), ": archive ");
  }
}

TEST_F(ArtifactsTest, ThatAreNoArchiveAreUnavailable) {
  std::ofstream{here_ / "page"} << "<html>Please log in</html>";
  std::ofstream{here_ / "nothing"};

  expect_unavailable(fetch_file("page"), ": archive ");
  expect_unavailable(fetch_file("nothing"), ": archive ");
}

TEST_F(ArtifactsTest, WithoutBuildJsonAreUnavailable) {
  here_.build("torch", commit_);
  here_.build("other", commit_);
  here_.bsdtar("-c -f two.tar torch other");
  here_.bsdtar("-c -f deep.tar -s '|^torch|a/torch|' torch");

  expect_unavailable(fetch_file("two.tar"), "holds no build.json");
  expect_unavailable(fetch_file("deep.tar"), "holds no build.json");
}

TEST_F(ArtifactsTest, WriteNothingOutsideOfTheirDirectory) {
  here_.build("torch", commit_);
  std::ofstream{here_ / "evil"} << "evil";
  fs::create_symlink(here_.string(), here_ / "link");
  here_.bsdtar("-P -c -f up.tar -s '|^evil|../evil|' torch evil");
  here_.bsdtar("-P -c -f up.zip --format zip -s '|^evil|../evil|' torch evil");
  here_.bsdtar("-P -c -f through.tar -s '|^evil|link/through|' torch link evil");

  for (std::string const name : {"up.tar", "up.zip", "through.tar"}) {
    expect_unavailable(fetch_file(name), ": archive ");
    EXPECT_FALSE(fs::exists(here_ / "work/evil")) << name;
    EXPECT_FALSE(fs::exists(here_ / "through")) << name;
  }
}

TEST_F(ArtifactsTest, WithAnAbsoluteNameAreUnavailable) {
  here_.build("torch", commit_);
  std::ofstream{here_ / "evil"} << "evil";
  auto const outside = here_ / "outside";
  here_.bsdtar("-P -c -f absolute.tar -s '|^evil|" + outside.string() + "|' torch/lib evil");

  expect_unavailable(fetch_file("absolute.tar"), "its path is absolute");
  EXPECT_FALSE(fs::exists(outside));
}

TEST_F(ArtifactsTest, InDirectoriesAreFoundWhereTheyAre) {
  here_.build("builds/" + commit_.hex, commit_);
  auto const place = (here_ / "builds/{commit}").string();
  Artifacts const artifacts{fetcher_, place, std::chrono::seconds{1}};

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
      fetcher_, (here_ / "builds/{commit}").string(), std::chrono::seconds{1}};

  EXPECT_FALSE(artifacts.find(other)) << "it is another commit's";
  EXPECT_FALSE(artifacts.find(commit_)) << "it has no build.json";
  EXPECT_FALSE(artifacts.find({std::string(40, 'e')})) << "there is none";
}

TEST_F(ArtifactsTest, AreNowhereUntilAPlaceIsNamed) {
  Artifacts const nowhere{fetcher_, "", std::chrono::seconds{1}};
  Artifacts const remote{fetcher_, server_.url() + "/{commit}", std::chrono::seconds{1}};

  EXPECT_FALSE(nowhere.find(commit_));
  EXPECT_FALSE(remote.find(commit_));
  EXPECT_FALSE(fetch("").value());
  EXPECT_EQ(server_.times_asked(), 0);
}

}  // namespace
}  // namespace torchwatch::build
