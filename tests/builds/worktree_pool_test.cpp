#include "daemon/builds/worktree_pool.h"

#include <fstream>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "bisect/git/history.h"
#include "runner/process/child_process.h"
#include "tests/bisect/git_repository.h"
#include "tests/no_descriptors_left.h"
#include "tests/runner/run.h"
#include "tests/temporary_folder.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using tests::text_of;

class WorktreesTest : public testing::Test {
 protected:
  WorktreesTest() {
    repository_.write("same.cpp", "same\n");
    repository_.write("add.cpp", "one\n");
    repository_.write("old.cpp", "old\n");
    older_ = repository_.commit("older");
    repository_.write("add.cpp", "two\n");
    repository_.git("mv old.cpp new.cpp");
    newer_ = repository_.commit("newer");
  }

  WorktreePool worktrees() {
    options_.source.repository = repository_.path().string();
    return WorktreePool{loop_.get_executor(), workshop_, parent()};
  }

  fs::path parent() const { return repository_.sibling("worktrees"); }

  Result<> check_out(Worktree& tree, CommitSha const& commit) {
    return tests::run(loop_, tree.check_out(Origin{commit, {}}));
  }

  boost::asio::io_context loop_;
  config::Options options_;
  Workshop workshop_{loop_.get_executor(), options_};
  bisect::GitRepository repository_;
  CommitSha older_;
  CommitSha newer_;
};

TEST_F(WorktreesTest, GoFromCommitToCommitAndTouchOnlyWhatDiffers) {
  auto all = worktrees();
  auto const tree = all.take();
  ASSERT_TRUE(check_out(*tree, older_));
  EXPECT_EQ(text_of(tree->source() / "add.cpp"), "one\n");
  auto const time_of = [&](char const* name) {
    return fs::last_write_time(tree->source() / name);
  };
  auto const same = time_of("same.cpp");
  auto const add = time_of("add.cpp");
  std::ofstream{tree->kept() / "object"} << "compiled";

  ASSERT_TRUE(check_out(*tree, newer_));

  EXPECT_EQ(text_of(tree->source() / "add.cpp"), "two\n");
  EXPECT_FALSE(fs::exists(tree->source() / "old.cpp"));
  EXPECT_TRUE(fs::exists(tree->source() / "new.cpp"));
  EXPECT_EQ(time_of("same.cpp"), same);
  EXPECT_GT(time_of("add.cpp"), add);
  EXPECT_EQ(text_of(tree->kept() / "object"), "compiled");
  EXPECT_EQ(repository_.git("status --porcelain"), "");
}

TEST_F(WorktreesTest, AreRemadeWhenACheckoutDiffersFromTheCommit) {
  auto all = worktrees();
  auto const tree = all.take();
  ASSERT_TRUE(check_out(*tree, older_));
  auto const hook = tree->source() / ".git/hooks/post-checkout";
  fs::create_directories(hook.parent_path());
  std::ofstream{hook} << "#!/bin/sh\necho changed by a hook >add.cpp\n";
  fs::permissions(hook, fs::perms::owner_all);

  auto const newer = check_out(*tree, newer_);

  ASSERT_TRUE(newer) << newer.error().message;
  EXPECT_EQ(text_of(tree->source() / "add.cpp"), "two\n");
  EXPECT_FALSE(fs::exists(hook));
}

TEST_F(WorktreesTest, TakeConvertedLineEndsForTheCommits) {
  repository_.write("run.bat", "dir\r\n");
  repository_.commit("with line ends");
  repository_.write(".gitattributes", "*.bat text eol=crlf\n");
  auto const converting = repository_.commit("which are converted from now on");
  auto all = worktrees();
  auto const tree = all.take();
  auto const checked_out = check_out(*tree, converting);
  EXPECT_TRUE(checked_out) << checked_out.error().message;
}

TEST_F(WorktreesTest, HaveWhatWasCommittedSince) {
  auto all = worktrees();
  auto const tree = all.take();
  ASSERT_TRUE(check_out(*tree, newer_));
  repository_.write("add.cpp", "three\n");
  auto const newest = repository_.commit("newest");
  std::ofstream{tree->source() / "add.cpp"} << "what a recipe did";
  std::ofstream{tree->source() / ".git" / "index.lock"} << "of a git that was killed";
  ASSERT_TRUE(check_out(*tree, newest));
  EXPECT_EQ(text_of(tree->source() / "add.cpp"), "three\n");
}

TEST_F(WorktreesTest, CheckOutARevert) {
  auto const objects = repository_.git("count-objects -v");
  auto all = worktrees();
  auto const tree = all.take();
  repository_.write("same.cpp", "other\n");
  auto const newest = repository_.commit("newest");
  auto const history = bisect::GitHistory::open(repository_.path().string()).value();
  auto const reverted = history.revert(newer_, newest).value().value();
  auto const before = repository_.git("count-objects -v");
  auto const done =
      tests::run(loop_, tree->check_out(Origin{reverted, Origin::Revert{newer_, newest}}));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(text_of(tree->source() / "add.cpp"), "one\n");
  EXPECT_EQ(text_of(tree->source() / "same.cpp"), "other\n");
  EXPECT_EQ(repository_.git("count-objects -v"), before) << "the repository was written to";
  EXPECT_NE(objects, before);
}

TEST_F(WorktreesTest, AreNotChangedByWhatARecipeHasGitRun) {
  tests::TemporaryFolder const victim;
  std::ofstream{victim.path() / "file"} << "untouched";
  auto all = worktrees();
  auto const tree = all.take();
  ASSERT_TRUE(check_out(*tree, older_));
  ASSERT_TRUE(tree->prepare_for("one"));
  auto const hook = tree->source() / ".git" / "hooks" / "post-checkout";
  fs::create_directories(hook.parent_path());
  std::ofstream{hook} << "#!/bin/sh\ntouch ran; cd ..; rm -rf kept recipe\nln -s "
                      << victim.path().string() << " kept; ln -s " << victim.path().string()
                      << "/file recipe; mkfifo warm\n";
  fs::permissions(hook, fs::perms::owner_all);

  ASSERT_TRUE(check_out(*tree, newer_));
  ASSERT_TRUE(tree->prepare_for("other"));

  EXPECT_TRUE(fs::exists(tree->source() / "ran")) << "the hook";
  EXPECT_FALSE(fs::is_symlink(tree->kept()));
  EXPECT_FALSE(tree->is_warm());
  EXPECT_EQ(text_of(victim.path() / "file"), "untouched");
}

TEST_F(WorktreesTest, RevertACommitWhereNoRecipeCanWrite) {
  tests::TemporaryFolder const victim;
  auto all = worktrees();
  auto const tree = all.take();
  ASSERT_TRUE(check_out(*tree, older_));
  repository_.write("same.cpp", "other\n");
  auto const newest = repository_.commit("newest");
  auto const history = bisect::GitHistory::open(repository_.path().string()).value();
  auto const reverted = history.revert(newer_, newest).value().value();
  auto const objects = tree->source() / ".git" / "objects";
  fs::rename(objects, tree->source() / "moved");
  fs::create_directory_symlink(victim.path(), objects);

  auto const done =
      tests::run(loop_, tree->check_out(Origin{reverted, Origin::Revert{newer_, newest}}));

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(text_of(tree->source() / "add.cpp"), "one\n");
  EXPECT_EQ(text_of(tree->source() / "same.cpp"), "other\n");
  EXPECT_TRUE(fs::is_empty(victim.path())) << "objects were written through a recipe's link";
}

TEST_F(WorktreesTest, OfEarlierVersionsAreRemade) {
  auto all = worktrees();
  auto const tree = all.take();
  ASSERT_TRUE(check_out(*tree, older_));
  fs::remove_all(tree->reverts());
  fs::remove(tree->source() / ".git" / "objects" / "info" / "alternates");
  auto const history = bisect::GitHistory::open(repository_.path().string()).value();
  auto const reverted = history.revert(newer_, newer_).value().value();
  auto const done =
      tests::run(loop_, tree->check_out(Origin{reverted, Origin::Revert{newer_, newer_}}));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(text_of(tree->source() / "add.cpp"), "one\n");
}

TEST_F(WorktreesTest, StayAsTheyAreWhereTheHostCannotStartGit) {
  auto all = worktrees();
  auto const tree = all.take();
  ASSERT_TRUE(check_out(*tree, older_));
  tree->warm_up();
  Result<> checked_out;
  {
    tests::NoDescriptorsLeft const none;
    checked_out = check_out(*tree, newer_);
  }
  ASSERT_FALSE(checked_out);
  EXPECT_TRUE(checked_out.error().is_of_host) << checked_out.error().message;
  EXPECT_TRUE(tree->is_warm()) << "what is kept between builds is not lost";
  EXPECT_EQ(text_of(tree->source() / "add.cpp"), "one\n");
  EXPECT_TRUE(check_out(*tree, newer_));
}

TEST_F(WorktreesTest, FailInTheWordsOfGit) {
  auto all = worktrees();
  auto const tree = all.take();
  auto const missing = check_out(*tree, CommitSha{std::string(40, 'f')});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::unavailable);
  EXPECT_THAT(missing.error().message, HasSubstr(std::string(40, 'f')));
  EXPECT_TRUE(check_out(*tree, older_)) << "and are none the worse";
}

TEST_F(WorktreesTest, AreTakenByOneAtATimeTheWarmOneFirst) {
  auto all = worktrees();
  EXPECT_FALSE(all.is_warm());
  fs::path warm;
  {
    auto const first = all.take();
    auto const second = all.take();
    EXPECT_NE(first->source(), second->source());
    ASSERT_TRUE(check_out(*second, older_));
    second->warm_up();
    warm = second->source();
  }
  EXPECT_TRUE(all.is_warm());
  EXPECT_EQ(all.take()->source(), warm);
}

TEST_F(WorktreesTest, KeepNothingThatAnotherRecipeMade) {
  auto all = worktrees();
  auto const tree = all.take();
  ASSERT_TRUE(check_out(*tree, older_));
  auto const object = tree->kept() / "add.o";
  ASSERT_TRUE(tree->prepare_for("gcc 12\n"));
  std::ofstream{object} << "object";
  tree->warm_up();

  ASSERT_TRUE(tree->prepare_for("gcc 12\n"));
  EXPECT_TRUE(fs::exists(object));
  EXPECT_TRUE(tree->is_warm());

  ASSERT_TRUE(tree->prepare_for("gcc 13\n"));
  EXPECT_TRUE(fs::is_empty(tree->kept()));
  EXPECT_FALSE(tree->is_warm());
  EXPECT_EQ(text_of(tree->source() / "add.cpp"), "one\n");

  std::ofstream{object} << "object";
  ASSERT_TRUE(tree->prepare_for(""));
  EXPECT_FALSE(fs::exists(object));
}

TEST_F(WorktreesTest, ThatWereCopied_AreNotUsed) {
  {
    auto all = worktrees();
    auto const tree = all.take();
    ASSERT_TRUE(check_out(*tree, older_));
    tree->warm_up();
  }
  fs::copy(parent() / "0", parent() / "1", fs::copy_options::recursive);

  auto const next = worktrees();

  EXPECT_TRUE(next.is_warm()) << "the original stays";
  EXPECT_TRUE(fs::exists(parent() / "0"));
  EXPECT_FALSE(fs::exists(parent() / "1"));
}

TEST_F(WorktreesTest, OutliveTheServiceButNotWithAnOrphanInside) {
  fs::path source;
  {
    auto all = worktrees();
    auto const tree = all.take();
    ASSERT_TRUE(check_out(*tree, older_));
    tree->warm_up();
    source = tree->source();
  }
  {
    auto next = worktrees();
    EXPECT_TRUE(next.is_warm());
    EXPECT_EQ(next.take()->source(), source);
  }
  process::Command command;
  command.argv = {"flock",
                  "--no-fork",
                  (source.parent_path() / "lock").string(),
                  "sh",
                  "-c",
                  "echo locked; sleep 60"};
  auto orphan = process::ChildProcess::start(loop_.get_executor(), command).value();
  ASSERT_EQ(tests::run(loop_, orphan.read_line()).value(), "locked");
  auto after = worktrees();
  EXPECT_FALSE(after.is_warm());
  EXPECT_FALSE(fs::exists(source));
  auto const fresh = after.take();
  EXPECT_TRUE(check_out(*fresh, newer_));
}

}  // namespace
}  // namespace torchwatch::builds
