#include "storage/builds.h"

#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using storage::BuildRecord;
using storage::BuildState;

using BuildsTest = TablesTest;

constexpr RecipeId first_recipe{1};
constexpr RecipeId second_recipe{2};

TEST_F(BuildsTest, TheLastRecordOfABuildCounts) {
  EXPECT_EQ(store.builds().find(sha_of('a'), first_recipe), std::nullopt);
  store.builds().record(BuildRecord{
      sha_of('a'), first_recipe, BuildState::unbuildable, "", "exit status 125", early});
  EXPECT_EQ(store.builds().find(sha_of('a'), first_recipe)->note, "exit status 125");
  EXPECT_EQ(store.builds().find(sha_of('a'), first_recipe)->state, BuildState::unbuildable);

  store.builds().record(
      BuildRecord{sha_of('a'), first_recipe, BuildState::built, "/builds/a", "", early});

  auto const read = store.builds().find(sha_of('a'), first_recipe).value();
  EXPECT_EQ(read.state, BuildState::built);
  EXPECT_EQ(read.prefix, "/builds/a");
  EXPECT_EQ(read.finished_at, early);
}

TEST_F(BuildsTest, TheCostOfABuildIsTheMeanOfTheNewest) {
  EXPECT_EQ(store.builds().mean_seconds(2, false), std::nullopt);
  using std::chrono::hours;
  store.builds().record({sha_of('a'), first_recipe, BuildState::built, "/a", "", early, 1000});
  store.builds().record(
      {sha_of('b'), first_recipe, BuildState::built, "/b", "", early + hours{1}, 20});
  store.builds().record(
      {sha_of('c'), first_recipe, BuildState::built, "/c", "", early + hours{2}, 30});
  store.builds().record({sha_of('d'), first_recipe, BuildState::built, "/d", "", early + hours{3}});
  store.builds().record(
      {sha_of('e'), first_recipe, BuildState::unbuildable, "", "", early + hours{4}, 1});

  store.builds().record(
      {sha_of('f'), first_recipe, BuildState::built, "/f", "", early + hours{5}, 7, true});

  EXPECT_EQ(store.builds().mean_seconds(2, false), 25);
  EXPECT_EQ(store.builds().mean_seconds(2, true), 7);
  EXPECT_TRUE(store.builds().find(sha_of('f'), first_recipe)->is_incremental);
  EXPECT_EQ(store.builds().find(sha_of('a'), first_recipe)->seconds, 1000);
}

TEST_F(BuildsTest, OneCommitHasABuildOfEachRecipe) {
  store.builds().record({sha_of('a'), first_recipe, BuildState::built, "/builds/a-1", "", early});
  store.builds().record({sha_of('a'), second_recipe, BuildState::unbuildable, "", "why", early});

  EXPECT_EQ(store.builds().find(sha_of('a'), first_recipe)->prefix, "/builds/a-1");
  EXPECT_EQ(store.builds().find(sha_of('a'), second_recipe)->state, BuildState::unbuildable);
  EXPECT_EQ(store.builds().find(sha_of('a'), RecipeId{3}), std::nullopt);
}

TEST_F(BuildsTest, ABuildIsFoundByItsPrefix) {
  store.builds().record({sha_of('a'), first_recipe, BuildState::built, "/builds/a-1", "", early});
  store.builds().record({sha_of('b'), first_recipe, BuildState::unbuildable, "", "", early});

  EXPECT_EQ(store.builds().find_at("/builds/a-1")->recipe, first_recipe);
  EXPECT_EQ(store.builds().find_at("/builds/a-1")->commit, sha_of('a'));
  EXPECT_EQ(store.builds().find_at("/builds/a-2"), std::nullopt);
  EXPECT_EQ(store.builds().find_at(""), std::nullopt);
}

TEST_F(BuildsTest, ARecipeIsKeptOnce) {
  auto const one = store.recipes().with(RecipeKind::program, "recipe a\ngcc 12\n");
  auto const other = store.recipes().with(RecipeKind::program, "recipe a\ngcc 13\n");

  EXPECT_NE(one.id, other.id);
  EXPECT_EQ(one.contents, "recipe a\ngcc 12\n");
  EXPECT_EQ(store.recipes().with(RecipeKind::program, "recipe a\ngcc 12\n").id, one.id);
  EXPECT_EQ(store.recipes().find(other.id)->contents, "recipe a\ngcc 13\n");
  EXPECT_FALSE(store.recipes().find(RecipeId{99}));
  EXPECT_FALSE(store.recipes().find(RecipeId{0})) << "0 is none";
}

TEST_F(BuildsTest, ARecipeOfAnotherKindIsAnother) {
  auto const program = store.recipes().with(RecipeKind::program, "/builds/{commit}");
  auto const artifacts = store.recipes().with(RecipeKind::artifacts, "/builds/{commit}");

  EXPECT_NE(program.id, artifacts.id);
  EXPECT_EQ(program.kind, RecipeKind::program);
  EXPECT_EQ(store.recipes().find(artifacts.id)->kind, RecipeKind::artifacts);
}

}  // namespace
}  // namespace torchwatch::tests
