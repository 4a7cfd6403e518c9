#include "daemon/builds/recipe.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "daemon/builds/recipe_builder.h"
#include "daemon/builds/worktree_pool.h"
#include "tests/bisect/git_repository.h"
#include "tests/fakes/memory/fake_fetcher.h"
#include "tests/fakes/memory/scripted_budget.h"
#include "tests/fakes/memory/world.h"
#include "tests/no_descriptors_left.h"
#include "tests/runner/run.h"
#include "tests/storage/samples.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

class RecipeProgramTest : public testing::Test {
 protected:
  fs::path folder() const { return folder_.database().parent_path(); }

  void write(std::string const& script) {
    source_.recipe = (folder() / "recipe").string();
    options_.state_dir = (folder() / "state").string();
    std::ofstream{source_.recipe} << "#!/bin/sh\n" << script;
    fs::permissions(source_.recipe, fs::perms::owner_all);
  }

  Result<std::string> contents(int layout = 0) {
    auto const empty = folder() / "empty";
    fs::create_directories(empty);
    Workshop workshop{loop_.get_executor(), options_};
    RecipeProgram const program{loop_.get_executor(), workshop};
    return tests::run(loop_, program.contents(empty, layout));
  }

  boost::asio::io_context loop_;
  config::Options options_;
  config::SourceOptions& source_ = options_.source;

 private:
  tests::TemporaryFolder folder_;
};

/// A program of others may print without end.
TEST_F(RecipeProgramTest, ThatPrintsWithoutEndIsKilled) {
  bisect::GitRepository repository;
  repository.write("file", "one\n");
  auto const commit = repository.commit("first");
  source_.repository = repository.path().string();
  write("head -c 300M /dev/zero\nexec sleep 60\n");
  source_.timeout = std::chrono::seconds{20};
  Workshop workshop{loop_.get_executor(), options_};
  RecipeProgram const program{loop_.get_executor(), workshop};
  WorktreePool worktrees{loop_.get_executor(), workshop, folder() / "worktrees"};
  auto const tree = worktrees.take();
  ASSERT_TRUE(tests::run(loop_, tree->check_out(Origin{commit, {}})));
  auto const log = folder() / "log";
  auto const run =
      tests::run(loop_, program.build(commit, *tree, folder() / "prefix/build", log, 0)).value();

  EXPECT_EQ(run.how, "printed more than 256 MiB");
  EXPECT_LE(fs::file_size(log), std::uintmax_t{257} << 20);
}

TEST_F(RecipeProgramTest, IsItsTextAndWhatItSaysThatItDependsOn) {
  write("[ \"$*\" = --dependencies ] && ls -a | wc -l && echo gcc 12\n");
  auto const before = contents().value();
  EXPECT_THAT(before, MatchesRegex("recipe [0-9a-f]{40}\n2\ngcc 12\n"));
  EXPECT_EQ(contents().value(), before);

  write("# By others.\n[ \"$*\" = --dependencies ] && ls -a | wc -l && echo gcc 12\n");
  auto const after = contents().value();
  EXPECT_THAT(after, MatchesRegex("recipe [0-9a-f]{40}\n2\ngcc 12\n"));
  EXPECT_NE(after, before);
}

TEST_F(RecipeProgramTest, SaysWhatLayoutItKnows) {
  write("echo gcc 12\n[ -z \"${TORCHWATCH_LAYOUT:-}\" ] || echo layout $TORCHWATCH_LAYOUT\n");
  EXPECT_THAT(contents().value(), MatchesRegex("recipe [0-9a-f]{40}\ngcc 12\n"));
  EXPECT_EQ(layout_in(contents().value()), 0);
  EXPECT_EQ(contents(1).value(), contents().value() + "layout 1\n");
  EXPECT_EQ(layout_in(contents(1).value()), 1);
}

TEST_F(RecipeProgramTest, ThatKnowsNoLayoutsIsTheSameForAll) {
  write("echo gcc 12\n");
  EXPECT_EQ(contents(1).value(), contents().value());
}

TEST_F(RecipeProgramTest, IsAskedForPythonPackagesWhereASuiteNeedsThem) {
  write("echo python ${TORCHWATCH_PYTHON:-none}\n");
  EXPECT_THAT(contents().value(), HasSubstr("\npython none\n"));
  options_.suite.needs = config::BuildNeeds::python;
  EXPECT_THAT(contents().value(), HasSubstr("\npython 1\n"));
}

TEST_F(RecipeProgramTest, IsItsTextAloneWhereItGivesNoAnswer) {
  write("echo half an answer\nexit 1\n");
  EXPECT_THAT(contents().value(), MatchesRegex("recipe [0-9a-f]{40}\n"));
}

TEST_F(RecipeProgramTest, ThatIsKilledIsAskedAgainLater) {
  write("kill -KILL $$\n");
  auto const killed = contents();
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().code, ErrorCode::unavailable);
  EXPECT_THAT(killed.error().message, HasSubstr("recipe --dependencies: killed by SIGKILL"));
}

TEST_F(RecipeProgramTest, ThatIsGoneIsNamed) {
  source_.recipe = (folder() / "nothing").string();
  auto const gone = contents();
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
  EXPECT_THAT(gone.error().message, HasSubstr("nothing cannot be read"));
}

TEST_F(RecipeProgramTest, IsNothingWhereNoneIsConfigured) {
  EXPECT_THAT(contents().value(), IsEmpty());
}

/// The builder's result for a recipe's exit status.
class RecipeStatusTest : public RecipeProgramTest {
 protected:
  RecipeStatusTest() {
    repository_.write("file", "one\n");
    commit_ = repository_.commit("first");
    source_.repository = repository_.path().string();
    source_.timeout = std::chrono::seconds{20};
  }

  Result<BuildAttempt> built_with(std::string const& script) {
    write("[ \"$1\" = --dependencies ] && exit 0\n" + script);
    Workshop workshop{loop_.get_executor(), options_};
    RecipeBuilder builder{loop_.get_executor(), workshop, fetcher_, budget_, store_, clock_};
    auto const recipe = tests::run(loop_, builder.recipe(0)).value();
    auto attempt = tests::run(loop_, builder.build(commit_, recipe.id, From::source));
    is_remembered_ = builder.known(commit_, recipe.id) == Known::unbuildable;
    return attempt;
  }

  Result<BuildAttempt> built_without_descriptors() {
    write("exit 0\n");
    Workshop workshop{loop_.get_executor(), options_};
    RecipeBuilder builder{loop_.get_executor(), workshop, fetcher_, budget_, store_, clock_};
    auto const recipe = tests::run(loop_, builder.recipe(0)).value();
    tests::NoDescriptorsLeft const none;
    return tests::run(loop_, builder.build(commit_, recipe.id, From::source));
  }

  CommitSha commit_;
  bool is_remembered_ = false;

 private:
  bisect::GitRepository repository_;
  fakes::FakeFetcher fetcher_;
  fakes::ScriptedBudget budget_;
  fakes::TestClock clock_;
  storage::Store store_ = storage::Store::open(folder() / "db").value();
};

TEST_F(RecipeStatusTest, Of1MayPass) {
  auto const attempt = built_with("exit 1\n").value();
  EXPECT_FALSE(attempt.build);
  EXPECT_THAT(attempt.note, HasSubstr("recipe: exit status 1"));
  EXPECT_TRUE(attempt.may_pass);
  EXPECT_FALSE(is_remembered_);
}

TEST_F(RecipeStatusTest, OfASignalMayPass) {
  EXPECT_TRUE(built_with("kill -KILL $$\n").value().may_pass);
}

TEST_F(RecipeStatusTest, Of0WithoutABuildMayPass) {
  EXPECT_TRUE(built_with("exit 0\n").value().may_pass);
}

TEST_F(RecipeStatusTest, Of125IsRemembered) {
  EXPECT_FALSE(built_with("exit 125\n").value().may_pass);
  EXPECT_TRUE(is_remembered_);
}

TEST_F(RecipeStatusTest, IsNoneWhereTheHostCannotStartGit) {
  auto const attempt = built_without_descriptors();
  ASSERT_FALSE(attempt) << attempt->note;
  EXPECT_TRUE(attempt.error().is_of_host) << attempt.error().message;
}

TEST_F(RecipeStatusTest, Above127IsOfNoCommit) {
  EXPECT_EQ(built_with("exit 129\n").error().code, ErrorCode::refused);
}

}  // namespace
}  // namespace torchwatch::builds
