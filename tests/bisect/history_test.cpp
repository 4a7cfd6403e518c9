#include "bisect/git/history.h"

#include "git_repository.h"
#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

namespace fs = std::filesystem;

GitHistory open(fs::path const& path) {
  return GitHistory::open(path).value();
}

std::string subjects(std::vector<Commit> const& commits) {
  std::string text;
  for (auto const& commit : commits) {
    text += (text.empty() ? "" : ", ") + commit.subject;
  }
  return text;
}

TEST(GitHistory, DescribesACommit) {
  GitRepository repository;
  auto const sha = repository.commit(
      "Speed up add\n\nPull Request resolved: https://github.com/pytorch/pytorch/pull/83000\n");
  auto const commit = open(repository.path()).commit(sha).value();
  EXPECT_EQ(commit.sha, sha);
  EXPECT_EQ(commit.subject, "Speed up add");
  EXPECT_EQ(commit.author, "Ada Author <ada@example.org>");
  EXPECT_EQ(commit.time.time_since_epoch().count(), 1'700'000'000);
  EXPECT_EQ(commit.pull_request, 83000);
}

TEST(GitHistory, ReadsACommitInItsOwnEncoding) {
  GitRepository repository;
  repository.git("config i18n.commitEncoding ISO-8859-1");
  std::ofstream{repository.sibling("latin"), std::ios::binary}
      << "Speed up caf\xe9\n\n"
         "Pull-Request: https://github.com/pytorch/pytorch/pull/83000\n";
  repository.git("commit --quiet --allow-empty --author='Jos\xe9 <jose@example.org>' --file='" +
                 repository.sibling("latin").string() + "'");
  CommitSha const sha{repository.git("rev-parse HEAD")};

  auto const commit = open(repository.path()).commit(sha).value();

  EXPECT_EQ(commit.subject, "Speed up caf\u00e9");
  EXPECT_EQ(commit.author, "Jos\u00e9 <jose@example.org>");
  EXPECT_EQ(commit.pull_request, 83000);
}

TEST(GitHistory, ListsCommitsOldestFirstThoughTheirTimesAreEqual) {
  GitRepository repository;
  auto const start = repository.commit("a");
  auto const middle = repository.commit("b");
  repository.commit("c");
  auto const end = repository.commit("d");
  auto const history = open(repository.path());
  EXPECT_EQ(subjects(history.commits_between(start, end).value()), "b, c, d");
  EXPECT_EQ(subjects(history.commits_between(start, middle).value()), "b");
  EXPECT_TRUE(history.commits_between(end, end).value().empty());
  EXPECT_EQ(history.parent(middle).value(), start);
}

TEST(GitHistory, FollowsFirstParentsThroughMerges) {
  GitRepository repository;
  auto const start = repository.commit("a");
  repository.git("checkout --quiet -b side");
  repository.commit("side");
  repository.git("checkout --quiet main");
  repository.commit("b");
  repository.git("merge --quiet --no-ff -m merge side");
  auto const end = repository.commit("c");
  auto const history = open(repository.path());
  EXPECT_EQ(subjects(history.commits_between(start, end).value()), "b, merge, c");
}

TEST(GitHistory, FollowsTheParentThatBroughtTheStartIn) {
  GitRepository repository;
  repository.commit("a");
  repository.git("checkout --quiet -b side");
  auto const start = repository.commit("side 1");
  repository.commit("side 2");
  repository.git("checkout --quiet main");
  auto const before = repository.commit("b");
  repository.git("merge --quiet --no-ff -m merge side");
  CommitSha const merge{repository.git("rev-parse HEAD")};
  auto const end = repository.commit("c");
  auto const history = open(repository.path());

  EXPECT_EQ(subjects(history.commits_between(start, end).value()), "side 2, merge, c");
  auto const lineage = history.lineage(start, end).value();
  EXPECT_EQ(lineage.base.sha, start);
  EXPECT_THAT(lineage.missing, testing::IsEmpty());
  EXPECT_EQ(history.merged_by(merge, before).value(), 2);
  EXPECT_EQ(history.merged_by(end, merge).value(), 0) << "it is not a merge";
}

/// "side 1" and "side 2" on top of "a", merged after "b".
struct MergedSide {
  MergedSide() {
    repository.git("checkout --quiet -b side");
    first = repository.commit("side 1");
    tip = repository.commit("side 2");
    repository.git("checkout --quiet main");
    before = repository.commit("b");
    repository.git("merge --quiet --no-ff -m merge side");
    merge.hex = repository.git("rev-parse HEAD");
  }

  GitRepository repository;
  CommitSha start = repository.commit("a");
  CommitSha first;
  CommitSha tip;
  CommitSha before;
  CommitSha merge;
};

TEST(GitHistory, NamesTheLineThatAMergeBrought) {
  MergedSide const side;
  auto const history = open(side.repository.path());

  EXPECT_EQ(history.merged_line(side.merge, side.start).value(),
            (MergedLine{side.start, side.tip}));
  EXPECT_EQ(history.merged_line(side.merge, side.first).value(),
            (MergedLine{side.start, side.before}))
      << "of the side that the start is on, the other one is merged";
  EXPECT_EQ(history.merged_line(side.before, side.start).value(), std::nullopt);
}

TEST(GitHistory, NamesNoLineOfAMergeOfThreeParents) {
  MergedSide side;
  auto const end = side.merge;
  for (std::string const name : {"one", "two"}) {
    side.repository.git("checkout --quiet -b " + name + " " + end.hex);
    side.repository.commit(name);
  }
  side.repository.git("checkout --quiet main");
  side.repository.commit("c");
  CommitSha const octopus{
      side.repository.git("commit-tree -p main -p one -p two -m octopus 'main^{tree}'")};
  EXPECT_EQ(open(side.repository.path()).merged_line(octopus, end).value(), std::nullopt);
}

TEST(GitHistory, ListsWhatAnOlderCommitLacks) {
  GitRepository repository;
  auto const older = repository.commit("a");
  repository.commit("b");
  auto const newer = repository.commit("c");

  auto const lineage = open(repository.path()).lineage(newer, older).value();

  EXPECT_EQ(lineage.base.subject, "a");
  EXPECT_EQ(subjects(lineage.missing), "b, c");
  EXPECT_THAT(lineage.added, testing::IsEmpty());
  EXPECT_EQ(ancestry_of(lineage), (Ancestry{older, 2, 0}));
  auto const way = way_along(lineage);
  EXPECT_EQ(subjects(way.suspects), "c, b");
  EXPECT_EQ(subjects(way.builds), "b, a");
}

TEST(GitHistory, ListsTheCommitsOfTwoBranchesSinceTheirBase) {
  GitRepository repository;
  repository.commit("a");
  auto const base = repository.commit("b");
  repository.git("checkout --quiet -b side");
  repository.commit("side 1");
  auto const side = repository.commit("side 2");
  repository.git("checkout --quiet main");
  repository.commit("c");
  auto const trunk = repository.commit("d");

  auto const lineage = open(repository.path()).lineage(trunk, side).value();

  EXPECT_EQ(subjects(lineage.missing), "c, d");
  EXPECT_EQ(subjects(lineage.added), "side 1, side 2");
  EXPECT_EQ(ancestry_of(lineage), (Ancestry{base, 2, 2}));
  auto const way = way_along(lineage);
  EXPECT_EQ(subjects(way.suspects), "d, c, side 1, side 2");
  EXPECT_EQ(subjects(way.builds), "c, b, side 1, side 2");
}

TEST(GitHistory, FindsNothingMissingInALaterCommit) {
  GitRepository repository;
  auto const start = repository.commit("a");
  repository.commit("b");
  auto const end = repository.commit("c");

  auto const lineage = open(repository.path()).lineage(start, end).value();

  EXPECT_EQ(ancestry_of(lineage), std::nullopt);
  EXPECT_EQ(subjects(way_along(lineage).suspects), "b, c");
  EXPECT_EQ(subjects(way_along(lineage).builds), "b, c");
}

TEST(GitHistory, NamesSuspectsOfTheStepsThatLeadToBuilds) {
  GitRepository repository;
  auto const older = repository.commit("a");
  repository.commit("b");
  auto const newer = repository.commit("c");
  auto const way = way_along(open(repository.path()).lineage(newer, older).value());
  Finding finding;
  finding.suspects = {way.builds.back()};

  name_suspects(way, finding);

  EXPECT_EQ(subjects(finding.suspects), "b");
  EXPECT_EQ(finding.missing, 1);
}

TEST(GitHistory, FindsNothingInCommonOfUnrelatedCommits) {
  GitRepository repository;
  auto const one = repository.commit("a");
  repository.git("checkout --quiet --orphan other");
  auto const other = repository.commit("b");
  EXPECT_EQ(open(repository.path()).lineage(one, other).error().code, ErrorCode::not_found);
}

TEST(GitHistory, NamesBothCommitsWhenOneDoesNotDescendFromTheOther) {
  GitRepository repository;
  auto const older = repository.commit("a");
  auto const newer = repository.commit("b");
  auto const backwards = open(repository.path()).commits_between(newer, older);
  ASSERT_FALSE(backwards);
  EXPECT_EQ(backwards.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(backwards.error().message,
            "walk from " + older.hex + " to " + newer.hex + ": git " + repository.path().string() +
                ": commit " + newer.hex + " is not an ancestor of commit " + older.hex);
}

TEST(GitHistory, SaysWhatAShallowCloneLacks) {
  GitRepository repository;
  auto const start = repository.commit("a");
  repository.commit("b");
  auto const end = repository.commit("c");
  auto const clone = repository.sibling("shallow.git");
  repository.git("clone --quiet --bare --depth 1 file://" + repository.path().string() + " '" +
                 clone.string() + "'");
  auto const missing = open(clone).commits_between(start, end);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(missing.error().message.find(start.hex), std::string::npos);
}

TEST(GitHistory, ListsTheNightliesThatAShallowCloneHas) {
  GitRepository repository;
  auto const trunk = repository.commit("a");
  for (auto const* const date : {"2026-11-19", "2026-11-20", "2026-11-21"})
    repository.commit(std::string{date} + " nightly release (" + trunk.hex + ")");
  auto const clone = repository.sibling("shallow.git");
  repository.git("clone --quiet --bare --depth 2 file://" + repository.path().string() + " '" +
                 clone.string() + "'");
  auto const releases = open(clone).nightly_releases("main", 9).value();
  ASSERT_EQ(releases.size(), 2U);
  EXPECT_EQ(releases.at(1).date, "2026-11-20");
}

TEST(GitHistory, OpensRepositoriesThatLibgit2RefusesByDefault) {
  GitRepository repository;
  auto const commit = repository.commit("a");
  repository.git("config core.repositoryformatversion 1");
  // The last one is unknown to older versions of git.
  for (auto const* const setting : {"partialClone origin",
                                    "preciousObjects true",
                                    "worktreeConfig true",
                                    "relativeWorktrees true"})
    repository.git(std::string{"config extensions."} + setting);
  EXPECT_EQ(open(repository.path()).resolve("HEAD").value(), commit);
}

TEST(GitHistory, OpensTheWorkingTreeThatGitAddedToAnother) {
  GitRepository repository;
  auto const commit = repository.commit("a");
  auto const added = repository.sibling("added");
  repository.git("worktree add --quiet --detach '" + added.string() + "'");
  repository.commit("b");
  auto const history = open(added);
  EXPECT_EQ(history.resolve("HEAD").value(), commit);
  EXPECT_EQ(history.resolve("main~1").value(), commit);
}

TEST(GitHistory, RefusesExtensionsThatItDoesNotRead) {
  struct Setting {
    char const* name;
    char const* value;
    char const* found;
  };

  for (auto const& [name, value, found] :
       {Setting{"objectFormat", "sha256", "extensions.objectformat = sha256"},
        Setting{"refStorage", "reftable", "extensions.refstorage = reftable"},
        Setting{"unheardOf", "true", "extensions.unheardof = true"}}) {
    GitRepository const repository;
    repository.git("config core.repositoryformatversion 1");
    repository.git(std::string{"config extensions."} + name + ' ' + value);
    auto const refused = GitHistory::open(repository.path());
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::refused);
    EXPECT_EQ(refused.error().message,
              "git " + repository.path().string() + ": found " + found +
                  ", allowed extensions: objectformat = sha1, partialclone, preciousobjects, "
                  "refstorage = files, relativeworktrees, worktreeconfig");
  }
}

std::string messages_of(std::vector<Landing> const& landings) {
  std::string text;
  for (auto const& landing : landings)
    text += landing.message;
  return text;
}

TEST(GitHistory, ListsWhatLandedOnTheCheckedOutBranch) {
  GitRepository repository;
  auto const first = repository.commit("a");
  auto const second = repository.commit("b\n\nBody.");
  auto const third = repository.commit("c");
  auto const history = open(repository.path());
  auto const landed = history.landed_after(first, "").value();
  EXPECT_EQ(messages_of(landed), "b\n\nBody.\nc\n");
  EXPECT_EQ(landed.at(0).sha, second);
  EXPECT_EQ(history.message(second).value(), "b\n\nBody.\n");
  EXPECT_THAT(history.landed_after(third, "").value(), testing::IsEmpty());
}

TEST(GitHistory, ListsWhatLandedOnTheRemoteTrunkFirst) {
  GitRepository repository;
  auto const first = repository.commit("a");
  repository.commit("fetched");
  repository.git("update-ref refs/remotes/origin/trunk HEAD");
  repository.git("symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/trunk");
  repository.git("reset --quiet --hard HEAD~1");
  repository.commit("own");
  auto const history = open(repository.path());
  EXPECT_EQ(messages_of(history.landed_after(first, "origin").value()), "fetched\n");
  EXPECT_EQ(messages_of(history.landed_after(first, "").value()), "fetched\n") << "of a clone";
  repository.git("update-ref refs/remotes/upstream/main HEAD");
  EXPECT_EQ(messages_of(history.landed_after(first, "upstream").value()), "own\n");
}

TEST(GitHistory, FindsNothingLandedAfterACommitOfNoTrunk) {
  GitRepository repository;
  repository.commit("a");
  repository.git("checkout --quiet -b side");
  auto const side = repository.commit("side");
  repository.git("checkout --quiet main");
  repository.commit("b");
  auto const landed = open(repository.path()).landed_after(side, "");
  ASSERT_FALSE(landed);
  EXPECT_EQ(landed.error().code, ErrorCode::not_found);
}

TEST(GitHistory, ListsTheChangesOfACommit) {
  using testing::ElementsAre;
  GitRepository repository;
  repository.write("aten/add.cpp", "1");
  repository.write("torch/old.py", "a file of some length, so that it counts as moved");
  auto const root = repository.commit("root");
  repository.write("aten/add.cpp", "2");
  repository.git("mv torch/old.py torch/new.py");
  auto const second = repository.commit("second");
  auto const empty = repository.commit("empty");

  auto const history = open(repository.path());
  EXPECT_THAT(history.changes_of(root).value().paths, ElementsAre("aten/add.cpp", "torch/old.py"));
  EXPECT_THAT(history.changes_of(second).value().paths,
              ElementsAre("aten/add.cpp", "torch/new.py", "torch/old.py"));
  EXPECT_THAT(history.changes_of(empty).value().paths, testing::IsEmpty());
  EXPECT_THAT(history.changes_of(second).value().pins, testing::IsEmpty());
  EXPECT_EQ(history.changes_of({std::string(40, 'f')}).error().code, ErrorCode::not_found);
}

TEST(GitHistory, RevertsACommitInMemoryOrInARepositoryOfOurs) {
  GitRepository repository;
  repository.write("add.cpp", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
  repository.commit("root");
  repository.write("add.cpp", "one\nTWO\nthree\nfour\nfive\nsix\nseven\n");
  auto const culprit = repository.commit("culprit");
  repository.write("add.cpp", "one\nTWO\nthree\nfour\nfive\nsix\nSEVEN\n");
  auto const newest = repository.commit("newest");
  auto const objects = repository.git("count-objects -v");

  auto const history = open(repository.path());
  auto const reverted = history.revert(culprit, newest).value().value();
  EXPECT_THAT(history.changes_of(reverted).value().paths, testing::ElementsAre("add.cpp"));
  EXPECT_EQ(history.parent(reverted).value(), newest);
  EXPECT_EQ(open(repository.path()).revert(culprit, newest).value(), reverted);
  EXPECT_EQ(open(repository.path()).commit(reverted).error().code, ErrorCode::not_found);
  EXPECT_EQ(repository.git("count-objects -v"), objects) << "the repository was changed";

  auto const ours = repository.sibling("ours");
  for (int again = 0; again < 2; ++again) {
    auto const borrowing = GitHistory::borrow(ours, repository.path());
    ASSERT_TRUE(borrowing) << borrowing.error().message;
    EXPECT_EQ(borrowing->revert(culprit, newest).value(), reverted);
  }
  EXPECT_EQ(repository.git("count-objects -v"), objects) << "the repository was changed";
  EXPECT_EQ(repository.git("--git-dir '" + ours.string() + "' cat-file -t " + reverted.hex),
            "commit");
}

TEST(GitHistory, DoesNotRevertACommitThatLaterCommitsNeed) {
  GitRepository repository;
  repository.write("add.cpp", "one\n");
  repository.commit("root");
  repository.write("add.cpp", "two\n");
  auto const culprit = repository.commit("culprit");
  repository.write("add.cpp", "three\n");
  auto const newest = repository.commit("newest");
  auto const empty = repository.commit("empty");

  auto const history = open(repository.path());
  EXPECT_EQ(history.revert(culprit, newest).value(), std::nullopt);
  EXPECT_EQ(history.revert(empty, newest).value(), std::nullopt) << "there is nothing to undo";
  EXPECT_EQ(history.revert({std::string(40, 'f')}, newest).error().code, ErrorCode::not_found);
}

TEST(GitHistory, ListsTheSubmodulesThatMoved) {
  GitRepository repository;
  repository.write("README", "1");
  repository.commit("root");
  std::string const one(40, '1');
  std::string const two(40, '2');
  auto const pin = [&](std::string const& sha) {
    repository.git("update-index --add --cacheinfo 160000," + sha + ",third_party/onednn");
    repository.git("commit --quiet --message='pin'");
    return CommitSha{repository.git("rev-parse HEAD")};
  };
  auto const added = pin(one);
  auto const moved = pin(two);
  repository.git("rm --quiet --cached third_party/onednn");
  repository.git("commit --quiet --message='remove'");
  CommitSha const removed{repository.git("rev-parse HEAD")};

  auto const history = open(repository.path());
  auto const pin_of = [&](CommitSha const& sha) {
    auto const changes = history.changes_of(sha).value();
    EXPECT_THAT(changes.paths, testing::IsEmpty());
    auto const& only = changes.pins.at(0);
    return only.path + " " + only.from.substr(0, 1) + " " + only.to.substr(0, 1);
  };
  EXPECT_EQ(pin_of(added), "third_party/onednn  1");
  EXPECT_EQ(pin_of(moved), "third_party/onednn 1 2");
  EXPECT_EQ(pin_of(removed), "third_party/onednn 2 ");
}

TEST(GitHistory, ResolvesWhatGitResolves) {
  GitRepository repository;
  auto const first = repository.commit("a");
  auto const second = repository.commit("b");
  repository.git("tag -a -m one v1 " + first.hex);
  auto const history = open(repository.path());
  EXPECT_EQ(history.resolve("main").value(), second);
  EXPECT_EQ(history.resolve("HEAD~1").value(), first);
  EXPECT_EQ(history.resolve("v1").value(), first);
  EXPECT_EQ(history.resolve(short_of(second)).value(), second);

  auto const missing = history.resolve("nowhere");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_TRUE(missing.error().message.starts_with("git " + repository.path().string() +
                                                  ": resolve \"nowhere\": "));
  auto const tree = history.resolve("HEAD^{tree}");
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().code, ErrorCode::invalid_argument);
}

TEST(GitHistory, FailsWithoutARepositoryCommitOrParent) {
  GitRepository repository;
  auto const root = repository.commit("a");
  auto const history = open(repository.path());
  EXPECT_EQ(GitHistory::open(repository.sibling("none")).error().code, ErrorCode::not_found);
  fs::create_directory(repository.path() / "below");
  EXPECT_EQ(GitHistory::open(repository.path() / "below").error().code, ErrorCode::not_found);
  EXPECT_EQ(history.commit({"main"}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(history.commit({std::string(40, '0')}).error().code, ErrorCode::not_found);
  EXPECT_EQ(history.parent(root).error().code, ErrorCode::not_found);
}

TEST(GitHistory, ListsNightlyReleasesNewestFirstAndSkipsOtherCommits) {
  GitRepository repository;
  std::string const first(40, '1');
  std::string const second(40, '2');
  auto const older = repository.commit("2026-11-19 nightly release (" + first + ")");
  repository.commit("Fix the release script");
  auto const newer = repository.commit("2026-11-20 nightly release (" + second + ")");
  repository.git("branch nightly");
  auto const history = open(repository.path());

  auto const releases = history.nightly_releases("nightly", 10).value();
  ASSERT_EQ(releases.size(), 2U);
  EXPECT_EQ(releases[0].date, "2026-11-20");
  EXPECT_EQ(releases[0].trunk.hex, second);
  EXPECT_EQ(releases[0].release, newer);
  EXPECT_EQ(releases[1].release, older);
  EXPECT_EQ(history.nightly_releases("nightly", 1).value().size(), 1U);

  auto const missing = history.nightly_releases("nightlies", 1);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("\"nightlies\""), std::string::npos);
}

TEST(GitHistory, FindsTheNightlyBranchOfAClonesOrigin) {
  GitRepository repository;
  repository.commit("2026-11-20 nightly release (" + std::string(40, '2') + ")");
  repository.git("branch nightly");
  auto const clone = repository.sibling("clone");
  repository.git("clone --quiet '" + repository.path().string() + "' '" + clone.string() + "'");
  EXPECT_EQ(open(clone).nightly_releases("nightly", 10).value().size(), 1U);
}

TEST(GitHistory, PrefersTheNightlyBranchAsItWasFetched) {
  GitRepository repository;
  repository.commit("2026-11-19 nightly release (" + std::string(40, '1') + ")");
  repository.git("branch nightly");  // an old local branch of that name
  repository.commit("2026-11-20 nightly release (" + std::string(40, '2') + ")");
  repository.git("update-ref refs/remotes/upstream/nightly HEAD");
  auto const history = open(repository.path());
  EXPECT_EQ(history.nightly_releases("nightly", 10, "upstream").value().size(), 2U);
  EXPECT_EQ(history.nightly_releases("nightly", 10, "elsewhere").value().size(), 1U);
  EXPECT_EQ(history.nightly_releases("nightly", 10).value().size(), 1U);
}

}  // namespace
}  // namespace torchwatch::bisect
