#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <unistd.h>

#include "daemon/setup/checks.h"
#include "tests/bisect/git_repository.h"
#include "tests/runner/run.h"
#include "tests/temporary_folder.h"
#include "tests/temporary_variable.h"

// Clones of a repository with a trunk and a branch of nightlies, as people make them.
namespace torchwatch::setup {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The command that a message ends with.
std::string command_in(std::string const& message) {
  std::string const before = ": git ";
  auto const at = message.rfind(before);
  return at == std::string::npos ? "" : message.substr(at + 2);
}

class RepositoryCheck : public testing::Test {
 protected:
  RepositoryCheck() {
    upstream_.git("config uploadpack.allowFilter true");
    upstream_.git("config uploadpack.allowAnySHA1InWant true");
    for (auto const* const text : {"one\n", "two\n", "three\n"}) {
      upstream_.write("aten/add.cpp", text);
      newest_ = upstream_.commit(text);
    }
    upstream_.git("checkout --quiet --orphan nightly");
    upstream_.commit("2026-01-02 nightly release (" + newest_.hex + ")");
    upstream_.git("checkout --quiet main");
    options_.feed.kind = config::FeedKind::git;
    options_.feed.path = clone().string();
    options_.source.repository = clone().string();
    options_.source.remote = "origin";
    options_.source.recipe = "/bin/true";
    options_.source.isolation = config::IsolationWish::none;
  }

  fs::path clone() const { return upstream_.beside("clone"); }

  void make_clone(std::string const& how) const {
    upstream_.git("clone --quiet " + how + " 'file://" + upstream_.path().string() + "' '" +
                  clone().string() + "'");
  }

  std::string in_clone(std::string const& arguments) const {
    return upstream_.git("-C '" + clone().string() + "' " + arguments);
  }

  Result<std::string> check() {
    CheckContext const context{loop_.get_executor(), options_, ""};
    return tests::run(loop_, check_repository(context));
  }

  /// Fails unless the clone is bad, and the command that the message names makes it good.
  void expect_mended(std::string const& why) {
    auto const bad = check();
    ASSERT_FALSE(bad) << *bad;
    EXPECT_THAT(bad.error().message, AllOf(HasSubstr(clone().string() + ": "), HasSubstr(why)));
    auto const command = command_in(bad.error().message);
    ASSERT_EQ(std::system(command.c_str()), 0) << bad.error().message;
    auto const good = check();
    EXPECT_TRUE(good) << command << " left: " << good.error().message;
  }

  bisect::GitRepository upstream_;
  CommitSha newest_;
  config::Options options_;
  boost::asio::io_context loop_{1};
};

struct CloneKind {
  char const* how;
  char const* why;
};

class CompleteClone : public RepositoryCheck, public testing::WithParamInterface<char const*> {};

TEST_P(CompleteClone, IsGood) {
  make_clone(GetParam());
  auto const good = check();
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_THAT(*good, HasSubstr("the remote origin answers, its branch nightly is at "));
}

INSTANTIATE_TEST_SUITE_P(RepositoryCheck,
                         CompleteClone,
                         testing::Values("", "--bare", "--mirror", "--bare --single-branch"));

class IncompleteClone : public RepositoryCheck, public testing::WithParamInterface<CloneKind> {};

TEST_P(IncompleteClone, IsBadUntilTheNamedCommandWasRun) {
  make_clone(GetParam().how);
  expect_mended(GetParam().why);
}

INSTANTIATE_TEST_SUITE_P(RepositoryCheck,
                         IncompleteClone,
                         testing::Values(CloneKind{"--filter=blob:none", "partial clone"},
                                         CloneKind{"--bare --filter=blob:none", "partial clone"},
                                         CloneKind{"--bare --filter=tree:0", "partial clone"},
                                         CloneKind{"--depth=1", "is shallow"},
                                         CloneKind{"--bare --depth=1", "is shallow"},
                                         CloneKind{"--bare --depth=1 --branch=nightly", "shallow"},
                                         CloneKind{"--single-branch", "one branch alone"}));

TEST_F(RepositoryCheck, MissesTheBranchOfACloneThatNothingIsFetchedInto) {
  options_.source.remote.clear();
  make_clone("--bare --single-branch --branch=main");
  expect_mended("has no branch nightly");
}

TEST_F(RepositoryCheck, MissesTheTrunkOfACloneOfTheNightlyBranch) {
  options_.source.remote.clear();
  make_clone("--bare --single-branch --branch=nightly");
  expect_mended("lacks commit " + newest_.hex);
}

TEST_F(RepositoryCheck, NamesTheUpstreamWhereTheRemoteHasNoNightlyBranch) {
  make_clone("--bare");
  upstream_.git("branch -D nightly");
  auto const bad = check();
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message,
              AllOf(HasSubstr("remote origin has no branch nightly"),
                    HasSubstr("remote set-url origin https://github.com/pytorch/pytorch.git")));
}

TEST_F(RepositoryCheck, TriesACheckoutOfAPartialCloneWithoutAFilter) {
  make_clone("--bare --filter=blob:none");
  in_clone("config --unset-all remote.origin.partialclonefilter");
  expect_mended("commit " + newest_.hex + " cannot be read");
}

TEST_F(RepositoryCheck, TakesAPartialCloneWhereNothingIsBuilt) {
  options_.source.recipe.clear();
  make_clone("--bare --filter=blob:none");
  auto const good = check();
  EXPECT_TRUE(good) << good.error().message;
}

TEST_F(RepositoryCheck, MissesTheTreesThatTellWhichFilesACommitChanged) {
  options_.source.recipe.clear();
  make_clone("--bare --filter=tree:0");
  expect_mended("commit " + newest_.hex + " cannot be read");
}

TEST_F(RepositoryCheck, OpensExtensionsThatChangeNothingHere) {
  make_clone("--bare");
  in_clone("config core.repositoryformatversion 1");
  in_clone("config extensions.worktreeConfig true");
  in_clone("config extensions.preciousObjects true");
  auto const good = check();
  EXPECT_TRUE(good) << good.error().message;
}

TEST_F(RepositoryCheck, HasGitTrustACloneOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  tests::TemporaryFolder const home;
  tests::TemporaryVariable const its_home{"HOME", home.path().string()};
  tests::TemporaryVariable const no_sudo{"SUDO_UID", std::nullopt};
  make_clone("--bare");
  auto const given_away = "chown -R 65534 '" + clone().string() + "'";
  ASSERT_EQ(std::system(given_away.c_str()), 0);
  expect_mended("belongs to another user");
}

TEST_F(RepositoryCheck, LeavesTheCloneAsItIs) {
  make_clone("--bare");
  auto const before = in_clone("count-objects -v");
  upstream_.commit("later");
  ASSERT_TRUE(check());
  EXPECT_EQ(in_clone("count-objects -v"), before);
}

}  // namespace
}  // namespace torchwatch::setup
