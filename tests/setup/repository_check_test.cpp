#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <unistd.h>

#include "daemon/setup/checks.h"
#include "tests/bisect/git_repository.h"
#include "tests/fakes/downloads/download_host.h"
#include "tests/runner/run.h"
#include "tests/temporary_folder.h"
#include "tests/temporary_variable.h"

// The kinds of clone that users have of a repository with a trunk and a branch of nightlies.
namespace torchwatch::setup {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

/// The command that a message ends with.
std::string command_in(std::string const& message) {
  std::string const before = ": ";
  auto const at = message.rfind(before);
  return at == std::string::npos ? "" : message.substr(at + before.size());
}

/// A clone that a configuration names. Git takes the local upstream for PyTorch's repository.
class WatchedClone {
 public:
  WatchedClone() {
    std::ofstream{home_ / ".gitconfig"}
        << "[url \"file://" << upstream_.path().string()
        << "\"]\n\tinsteadOf = https://github.com/pytorch/pytorch.git\n";
    upstream_.git("config uploadpack.allowFilter true");
    upstream_.git("config uploadpack.allowAnySHA1InWant true");
    for (auto const* const text : {"one\n", "two\n", "three\n"}) {
      upstream_.write("aten/add.cpp", text);
      newest_ = upstream_.commit(text);
    }
    upstream_.git("checkout --quiet --orphan nightly");
    release("2026-01-02");
    options_.feed.kind = config::FeedKind::git;
    options_.feed.path = path().string();
    options_.source.repository = path().string();
    options_.source.remote = "origin";
    options_.source.recipe = "/bin/true";
    options_.source.isolation = config::IsolationWish::none;
  }

  fs::path path() const { return upstream_.sibling("clone"); }

  bisect::GitRepository const& upstream() const { return upstream_; }

  config::Options& options() { return options_; }

  /// `how`: options of `git clone`.
  void make(std::string const& how) const {
    upstream_.git("clone --quiet " + how + " 'file://" + upstream_.path().string() + "' '" +
                  path().string() + "'");
  }

  /// In the clone.
  std::string git(std::string const& arguments) const {
    return upstream_.git("-C '" + path().string() + "' " + arguments);
  }

  void extend(std::string const& extension) const {
    git("config core.repositoryformatversion 1");
    git("config extensions." + extension);
  }

  /// Gets its commits from a fork that has had no new nightly for a week, unlike the index.
  void follow_old_fork() {
    auto const fork = upstream_.sibling("fork").string();
    upstream_.git("clone --quiet --bare . '" + fork + "'");
    git("remote set-url origin 'file://" + fork + "'");
    upstream_.git("checkout --quiet nightly");
    release("2026-01-09");
    std::string const wheel =
        "torch-2.15.0.dev20260109%2Bcpu-cp312-cp312-manylinux_2_28_x86_64.whl";
    auto const link = "<a href=\"/whl/nightly/cpu/" + wheel + "\">" + wheel + "</a>";
    index_.emplace().host("/whl/nightly/cpu/torch/", {.content = link});
    options_.feed = {};
    options_.feed.kind = config::FeedKind::wheels;
    options_.feed.url = index_->url();
    options_.feed.machine = "x86_64";
  }

  /// Gets its commits from a fork that has no branch of nightlies.
  void follow_fork_of_trunk() const {
    auto const fork = upstream_.sibling("fork").string();
    upstream_.git("clone --quiet --bare --single-branch --branch=main . '" + fork + "'");
    git("remote set-url origin 'file://" + fork + "'");
  }

  /// Gets the settings and the HEAD of a clone that git 2.45 makes with --ref-format=reftable.
  void store_refs_in_table() const {
    extend("refStorage reftable");
    std::ofstream{path() / "HEAD"} << "ref: refs/heads/.invalid\n";
  }

  /// Replaces the clone by an empty repository whose objects have SHA-256 names.
  void become_sha256() const {
    fs::remove_all(path());
    upstream_.git("init --quiet --bare --object-format=sha256 '" + path().string() + "'");
    git("remote add origin 'file://" + upstream_.path().string() + "'");
  }

  void give_away() const {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    auto const command = "chown -R 65534 '" + path().string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  Result<std::string> check() {
    CheckContext const context{loop_.get_executor(), options_, FETCH_PROGRAM};
    return tests::run(loop_, check_repository(context));
  }

 private:
  /// Adds a nightly of the trunk's newest commit to the branch that is checked out.
  void release(std::string const& date) const {
    upstream_.commit(date + " nightly release (" + newest_.hex + ")");
    upstream_.git("checkout --quiet main");
  }

  tests::TemporaryFolder home_;
  tests::TemporaryVariable its_home_{"HOME", home_.path().string()};
  tests::TemporaryVariable no_sudo_{"SUDO_UID", std::nullopt};
  bisect::GitRepository upstream_;
  CommitSha newest_;
  std::optional<fakes::DownloadHost> index_;
  config::Options options_;
  boost::asio::io_context loop_{1};
};

struct CloneKind {
  char const* name;
  char const* how;                          ///< options of `git clone`
  void (*change)(WatchedClone&) = nullptr;  ///< applied to the new clone
  char const* word = "its branch nightly is at ";
  char const* command = nullptr;  ///< a part of the named one; none: the clone is good
};

void PrintTo(CloneKind const& kind, std::ostream* out) {
  *out << kind.name;
}

void stop_fetching(WatchedClone& clone) {
  clone.options().source.remote.clear();
}

void stop_building(WatchedClone& clone) {
  clone.options().source.recipe.clear();
}

void give_away(WatchedClone& clone) {
  clone.give_away();
}

constexpr auto partial = "is a partial clone: it lacks files";
constexpr auto shallow = "is shallow: it lacks the commits before its boundary";
constexpr auto of_another_user = "belongs to another user";
constexpr auto refetch = "fetch --refetch origin";
constexpr auto unshallow = "fetch --unshallow origin";
constexpr auto fetch_all = "fetch origin '+refs/heads/*:refs/heads/*'";
constexpr auto trust = "git config --global --add safe.directory";
constexpr auto follow_upstream = "remote set-url origin https://github.com/pytorch/pytorch.git";
constexpr auto clone_anew = "git clone --bare https://github.com/pytorch/pytorch.git";

CloneKind const kinds[] = {
    {.name = "WorkingTree", .how = ""},
    {.name = "Bare", .how = "--bare"},
    {.name = "Mirror", .how = "--mirror"},
    {.name = "BareOfTrunkAlone", .how = "--bare --single-branch"},
    {.name = "WorktreeConfigExtension",
     .how = "--bare",
     .change =
         [](WatchedClone& clone) {
           clone.extend("worktreeConfig true");
         }},
    {.name = "PreciousObjectsExtension",
     .how = "--bare",
     .change =
         [](WatchedClone& clone) {
           clone.extend("preciousObjects true");
         }},
    {.name = "PartialCloneExtensionOfCompleteClone",
     .how = "--bare",
     .change =
         [](WatchedClone& clone) {
           clone.extend("partialClone origin");
         }},
    {.name = "BloblessWhereNothingIsBuilt",
     .how = "--bare --filter=blob:none",
     .change = stop_building},
    {.name = "Blobless", .how = "--filter=blob:none", .word = partial, .command = refetch},
    {.name = "BareBlobless",
     .how = "--bare --filter=blob:none",
     .word = partial,
     .command = refetch},
    {.name = "Treeless", .how = "--bare --filter=tree:0", .word = partial, .command = refetch},
    {.name = "TreelessWhereNothingIsBuilt",
     .how = "--bare --filter=tree:0",
     .change = stop_building,
     .word = "cannot be read",
     .command = refetch},
    {.name = "BloblessWithoutItsFilter",
     .how = "--bare --filter=blob:none",
     .change =
         [](WatchedClone& clone) {
           clone.git("config --unset-all remote.origin.partialclonefilter");
         },
     .word = "cannot be read",
     .command = refetch},
    {.name = "PartialCloneExtensionOfOldGit",
     .how = "--bare --filter=blob:none",
     .change =
         [](WatchedClone& clone) {
           clone.git("config --unset-all remote.origin.partialclonefilter");
           clone.git("config --unset-all remote.origin.promisor");
           clone.extend("partialClone origin");
         },
     .word = "cannot be read",
     .command = refetch},
    {.name = "Shallow", .how = "--depth=1", .word = shallow, .command = unshallow},
    {.name = "BareShallow", .how = "--bare --depth=1", .word = shallow, .command = unshallow},
    {.name = "ShallowOfNightlies",
     .how = "--bare --depth=1 --branch=nightly",
     .word = shallow,
     .command = unshallow},
    {.name = "SingleBranch",
     .how = "--single-branch",
     .word = "fetches one branch alone",
     .command = "config --replace-all remote.origin.fetch"},
    {.name = "TrunkThatNothingIsFetchedInto",
     .how = "--bare --single-branch --branch=main",
     .change = stop_fetching,
     .word = "has no branch nightly",
     .command = fetch_all},
    {.name = "NightliesThatNothingIsFetchedInto",
     .how = "--bare --single-branch --branch=nightly",
     .change = stop_fetching,
     .word = "lacks commit ",
     .command = fetch_all},
    {.name = "OldFork",
     .how = "--bare",
     .change = [](WatchedClone& clone) { clone.follow_old_fork(); },
     .word =
         "ends with the nightly of 2026-01-02, the feed has one of 2026-01-09; is it of a fork?",
     .command = follow_upstream},
    {.name = "ForkWithoutNightlies",
     .how = "--bare",
     .change = [](WatchedClone& clone) { clone.follow_fork_of_trunk(); },
     .word = "its remote origin has no branch nightly",
     .command = follow_upstream},
    {.name = "BareOfAnotherUser",
     .how = "--bare",
     .change = give_away,
     .word = of_another_user,
     .command = trust},
    {.name = "WorkingTreeOfAnotherUser",
     .how = "",
     .change = give_away,
     .word = of_another_user,
     .command = trust},
    {.name = "Sha256",
     .how = "--bare",
     .change = [](WatchedClone& clone) { clone.become_sha256(); },
     .word = "found extensions.objectformat = sha256, allowed extensions: objectformat = sha1",
     .command = clone_anew},
    {.name = "Reftable",
     .how = "--bare",
     .change = [](WatchedClone& clone) { clone.store_refs_in_table(); },
     .word = "found extensions.refstorage = reftable, allowed extensions: objectformat = sha1",
     .command = clone_anew},
    {.name = "ExtensionOfLaterGit",
     .how = "--bare",
     .change = [](WatchedClone& clone) { clone.extend("unheardOf true"); },
     .word = "found extensions.unheardof = true, allowed extensions: objectformat = sha1",
     .command = clone_anew}};

class RepositoryCheck : public testing::TestWithParam<CloneKind> {};

TEST_P(RepositoryCheck, FindsAnUnfitCloneAndNamesTheCommandThatMendsIt) {
  auto const& kind = GetParam();
  WatchedClone clone;
  clone.make(kind.how);
  if (kind.change != nullptr) kind.change(clone);
  if (IsSkipped() || HasFatalFailure()) return;

  auto const found = clone.check();

  auto const words = found ? *found : found.error().message;
  EXPECT_THAT(words, AllOf(HasSubstr(clone.path().string() + ": "), HasSubstr(kind.word)));
  ASSERT_EQ(found.has_value(), kind.command == nullptr) << words;
  if (found) return;
  auto const command = command_in(words);
  EXPECT_THAT(command, HasSubstr(kind.command));
  ASSERT_EQ(std::system(command.c_str()), 0) << words;
  auto const mended = clone.check();
  EXPECT_TRUE(mended) << command << " left: " << mended.error().message;
}

INSTANTIATE_TEST_SUITE_P(Kinds, RepositoryCheck, testing::ValuesIn(kinds));

TEST(FreshClone, TakesTheNameOfTheRemote) {
  WatchedClone clone;
  clone.options().source.remote = "upstream";
  clone.make("--bare --origin upstream");
  clone.extend("unheardOf true");
  auto const bad = clone.check();
  ASSERT_FALSE(bad);
  auto const command = command_in(bad.error().message);
  EXPECT_THAT(command,
              EndsWith(" https://github.com/pytorch/pytorch.git " + clone.path().string()));
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(clone.git("remote"), "upstream");
}

TEST(CloneThatIsChecked, StaysAsItIs) {
  WatchedClone clone;
  clone.make("--bare");
  auto const before = clone.git("count-objects -v");
  clone.upstream().commit("later");
  ASSERT_TRUE(clone.check());
  EXPECT_EQ(clone.git("count-objects -v"), before);
}

}  // namespace
}  // namespace torchwatch::setup
