#include "daemon/builds/git_fetch.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "bisect/git/history.h"
#include "daemon/async/when_all.h"
#include "tests/bisect/git_repository.h"
#include "tests/fakes/proxy/connect_proxy.h"
#include "tests/no_descriptors_left.h"
#include "tests/runner/run.h"
#include "tests/temporary_variable.h"

namespace torchwatch::builds {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// True when two requests at the same time both get the commit.
asio::awaitable<bool> ensure_twice(GitFetch& fetching, CommitSha commit) {
  std::vector<CommitSha> const commits{std::move(commit)};
  std::vector<asio::awaitable<Result<>>> tasks;
  tasks.push_back(fetching.ensure(commits));
  tasks.push_back(fetching.ensure(commits));
  auto const ensured = co_await async::when_all(std::move(tasks));
  co_return ensured[0] && ensured[1];
}

/// An upstream with one commit, and a clone of it that counts its requests.
class Clone {
 public:
  explicit Clone(std::string const& kind = "--bare") : first_{upstream_.commit("first")} {
    upstream_.git("clone --quiet " + kind + " '" + upstream_.path().string() + "' '" +
                  path().string() + "'");
    auto const asked = upstream_.sibling("upload-pack");
    std::ofstream{asked} << "#!/bin/sh\necho asked >>'" << log().string()
                         << "'\nexec git-upload-pack \"$@\"\n";
    fs::permissions(asked, fs::perms::owner_all);
    git("config remote.origin.uploadpack '" + asked.string() + "'");
    source_.repository = path().string();
    source_.remote = "origin";
  }

  bisect::GitRepository& upstream() { return upstream_; }

  config::SourceOptions& source() { return source_; }

  CommitSha const& first() const { return first_; }

  void lose_upstream() const { fs::rename(upstream_.path(), upstream_.sibling("gone")); }

  /// In the clone.
  std::string git(std::string const& arguments) const {
    return upstream_.git("-C '" + path().string() + "' " + arguments);
  }

  /// The place of the branch in the clone.
  std::string name_of(std::string const& branch) const {
    bool const is_bare = git("rev-parse --is-bare-repository") == "true";
    return (is_bare ? "refs/heads/" : "refs/remotes/origin/") + branch;
  }

  /// Leaves the file behind, as a killed git does.
  fs::path lock_of(std::string const& branch) const {
    auto const lock = path() / git("rev-parse --git-common-dir") / (name_of(branch) + ".lock");
    std::ofstream{lock}.close();
    return lock;
  }

  long times_asked() const {
    std::ifstream lines{log()};
    return std::count(std::istreambuf_iterator<char>{lines}, {}, '\n');
  }

  Result<> ensure(std::vector<CommitSha> commits) {
    return tests::run(loop_, fetching_.ensure(std::move(commits)));
  }

  Result<std::optional<CommitSha>> ask_remote(std::string branch) {
    return tests::run(loop_, fetching_.ask_remote(std::move(branch)));
  }

  Result<> refresh() { return tests::run(loop_, fetching_.refresh()); }

  bool ensure_twice_at_once(CommitSha const& commit) {
    return tests::run(loop_, ensure_twice(fetching_, commit));
  }

 private:
  fs::path path() const { return upstream_.sibling("clone"); }

  fs::path log() const { return upstream_.sibling("asked"); }

  bisect::GitRepository upstream_;
  CommitSha first_;
  config::SourceOptions source_;
  asio::io_context loop_{1};
  GitFetch fetching_{loop_.get_executor(), source_};
};

class EveryClone : public testing::TestWithParam<char const*> {};

TEST_P(EveryClone, GetsNewCommitsAndBranchesInOneFetch) {
  Clone clone{GetParam()};
  auto const second = clone.upstream().commit("second");
  clone.upstream().git("checkout --quiet --orphan nightly");
  clone.upstream().commit("2026-11-20 nightly release (" + second.hex + ")");

  auto const ensured = clone.ensure({clone.first(), second});

  ASSERT_TRUE(ensured) << ensured.error().message;
  EXPECT_EQ(clone.times_asked(), 1);
  auto const history = bisect::GitHistory::open(clone.source().repository);
  EXPECT_EQ(history->commits_between(clone.first(), second).value().size(), 1U);
  EXPECT_EQ(history->nightly_releases("nightly", 1).value().at(0).trunk, second);
}

TEST_P(EveryClone, FollowsABranchThatWasRewritten) {
  Clone clone{GetParam()};
  clone.upstream().git("checkout --quiet -b nightly");
  clone.upstream().commit("2026-11-20 nightly release (" + clone.first().hex + ")");
  ASSERT_TRUE(clone.refresh());
  clone.upstream().git("reset --quiet --hard " + clone.first().hex);
  clone.upstream().commit("2026-11-21 nightly release (" + clone.first().hex + ")");

  ASSERT_TRUE(clone.refresh());

  auto const history = bisect::GitHistory::open(clone.source().repository);
  auto const releases = history->nightly_releases("nightly", 9).value();
  ASSERT_EQ(releases.size(), 1U);
  EXPECT_EQ(releases[0].date, "2026-11-21");
}

TEST(GitFetch, RemovesWhatKilledFetchesLeft) {
  Clone clone;
  auto const packs = fs::path{clone.source().repository} / "objects" / "pack";
  fs::create_directories(packs);
  std::ofstream{packs / "tmp_pack_dead"} << "half a pack";
  std::ofstream{packs / "tmp_pack_live"} << "half a pack";
  fs::last_write_time(packs / "tmp_pack_dead",
                      fs::file_time_type::clock::now() - std::chrono::hours{2});
  clone.lose_upstream();

  EXPECT_FALSE(clone.refresh());

  EXPECT_FALSE(fs::exists(packs / "tmp_pack_dead"));
  EXPECT_TRUE(fs::exists(packs / "tmp_pack_live"));
}

TEST_P(EveryClone, GoesOnAfterAGitThatWasKilled) {
  Clone clone{GetParam()};
  clone.upstream().git("checkout --quiet -b nightly");
  ASSERT_TRUE(clone.refresh());
  auto const second = clone.upstream().commit("second");
  auto const lock = clone.lock_of("nightly");

  EXPECT_TRUE(clone.refresh()) << "the rest has come";
  EXPECT_TRUE(fs::exists(lock)) << "a process may hold it";
  EXPECT_EQ(clone.times_asked(), 2);

  fs::last_write_time(lock, fs::file_time_type::clock::now() - std::chrono::hours{2});
  ASSERT_TRUE(clone.refresh());
  EXPECT_FALSE(fs::exists(lock));
  EXPECT_EQ(clone.git("rev-parse " + clone.name_of("nightly")), second.hex);
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryClone,
                         testing::Values("--bare", "--mirror", ""),
                         [](auto const& kind) {
                           std::string const name{kind.param};
                           return name.empty() ? "working" : name.substr(2);
                         });

TEST(GitFetch, KeepsRemoteBranchesOfAWorkingTreeSeparate) {
  Clone clone{""};
  clone.git("config --unset-all remote.origin.fetch");
  auto const second = clone.upstream().commit("second");

  ASSERT_TRUE(clone.ensure({second}));

  EXPECT_EQ(clone.git("rev-parse main"), clone.first().hex);
  EXPECT_EQ(clone.git("rev-parse origin/main"), second.hex);
}

TEST(GitFetch, LeavesNoLooseObjectsThatAKillWouldTearApart) {
  Clone clone;
  auto const loose = clone.git("count-objects");

  ASSERT_TRUE(clone.ensure({clone.upstream().commit("second")}));

  EXPECT_EQ(clone.git("count-objects"), loose);
}

TEST(GitFetch, RequestsNothingThatExists) {
  Clone clone;
  clone.lose_upstream();

  auto const ensured = clone.ensure({clone.first()});

  EXPECT_TRUE(ensured) << ensured.error().message;
  EXPECT_EQ(clone.times_asked(), 0);
}

TEST(GitFetch, FetchesOnceForTwoEqualRequests) {
  Clone clone;
  auto const second = clone.upstream().commit("second");

  EXPECT_TRUE(clone.ensure_twice_at_once(second));

  EXPECT_EQ(clone.times_asked(), 1);
}

TEST(GitFetch, MayBeTriedAgainWhenTheRemoteIsAway) {
  Clone clone;
  clone.lose_upstream();
  CommitSha const unknown{std::string(40, 'f')};

  auto const ensured = clone.ensure({clone.first(), unknown});

  ASSERT_FALSE(ensured);
  EXPECT_EQ(ensured.error().code, ErrorCode::unavailable);
  EXPECT_THAT(ensured.error().message,
              AllOf(HasSubstr(clone.source().repository),
                    HasSubstr(unknown.hex),
                    HasSubstr("fetch origin into " + clone.source().repository + ": fatal: '"),
                    HasSubstr("does not appear to be a git repository"),
                    testing::Not(HasSubstr("\n"))));
  EXPECT_EQ(clone.refresh().error().code, ErrorCode::unavailable);
}

TEST(GitFetch, ThatAHostCannotStartIsTheHostsTrouble) {
  Clone clone;
  Result<> refreshed;
  {
    tests::NoDescriptorsLeft const none;
    refreshed = clone.refresh();
  }
  ASSERT_FALSE(refreshed);
  EXPECT_TRUE(refreshed.error().is_of_host) << refreshed.error().message;
  EXPECT_TRUE(clone.refresh());
  clone.lose_upstream();
  EXPECT_FALSE(clone.refresh().error().is_of_host);
}

TEST(GitFetch, TakesWhatCameThoughOneBranchFailed) {
  Clone clone;
  clone.git("branch topic main");
  clone.upstream().git("branch topic/two main");  // git cannot store it with a branch topic
  auto const second = clone.upstream().commit("second");

  auto const ensured = clone.ensure({second});

  EXPECT_TRUE(ensured) << ensured.error().message;
  EXPECT_TRUE(clone.refresh());
  CommitSha const unknown{std::string(40, 'f')};
  EXPECT_EQ(clone.ensure({unknown}).error().code, ErrorCode::not_found) << "no repository has it";
}

TEST(GitFetch, DoesNotFindWhatTheRemoteLacksToo) {
  Clone clone;
  CommitSha const unknown{std::string(40, 'f')};

  auto const ensured = clone.ensure({clone.first(), unknown});

  ASSERT_FALSE(ensured);
  EXPECT_EQ(ensured.error().code, ErrorCode::not_found);
  EXPECT_THAT(ensured.error().message,
              AllOf(HasSubstr(clone.source().repository), HasSubstr(unknown.hex)));
  EXPECT_EQ(clone.times_asked(), 1);
}

TEST(GitFetch, WithoutARemoteLeavesTheRepositoryToOthers) {
  Clone clone;
  clone.source().remote.clear();
  auto const second = clone.upstream().commit("second");

  EXPECT_EQ(clone.ensure({second}).error().code, ErrorCode::not_found);
  EXPECT_TRUE(clone.refresh());
  EXPECT_EQ(clone.times_asked(), 0);
}

TEST(GitFetch, DoesNotFetchForWhatIsNoCommitOrNoRepository) {
  Clone clone;
  EXPECT_EQ(clone.ensure({CommitSha{"main"}}).error().code, ErrorCode::invalid_argument);
  clone.source().repository += "-not";
  EXPECT_EQ(clone.ensure({clone.first()}).error().code, ErrorCode::not_found);
  EXPECT_EQ(clone.times_asked(), 0);
}

TEST(GitFetch, AsksTheRemoteForABranchWithoutFetchingIt) {
  Clone clone;
  auto const second = clone.upstream().commit("second");

  auto const newest = clone.ask_remote("main");
  ASSERT_TRUE(newest) << newest.error().message;
  EXPECT_EQ(*newest, second);
  EXPECT_EQ(clone.git("rev-parse main"), clone.first().hex);
  auto const none = clone.ask_remote("nightly");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_EQ(*none, std::nullopt);

  clone.lose_upstream();
  auto const lost = clone.ask_remote("main");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::unavailable);
  EXPECT_THAT(lost.error().message, HasSubstr("remote origin of " + clone.source().repository));
}

TEST(GitFetch, UsesTheConfiguredProxy) {
  fakes::ProxyManners manners;
  manners.status = 403;
  fakes::ConnectProxy const proxy{manners};
  tests::TemporaryVariable const by{"https_proxy", "http://" + proxy.address()};
  tests::TemporaryVariable const except{"no_proxy", "localhost"};
  tests::TemporaryVariable const capital{"NO_PROXY", std::nullopt};
  Clone clone;
  clone.git("remote set-url origin https://git.invalid/torch.git");

  auto const refreshed = clone.refresh();

  ASSERT_FALSE(refreshed);
  EXPECT_THAT(refreshed.error().message, HasSubstr("403"));
  ASSERT_FALSE(proxy.requests().empty());
  EXPECT_EQ(proxy.requests().front().target, "git.invalid:443");
}

}  // namespace
}  // namespace torchwatch::builds
