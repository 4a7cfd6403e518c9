#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/e2e/bisections.h"
#include "tests/e2e/dependencies.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

// Builds of one commit that differ in a dependency, or in the recipe that made them.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

/// Prints its dependencies and counts its builds. Upgrades the compiler at the build that the file
/// "upgrade" names.
constexpr auto upgraded_recipe = R"sh(#!/bin/sh
cd "${0%/*}" || exit 129
if [ "$1" = --dependencies ]; then
  cat compiler
  exit
fi
echo "$TORCHWATCH_COMMIT" >> built
if [ -e upgrade ] && [ "$(wc -l < built)" -ge "$(cat upgrade)" ]; then
  rm upgrade
  echo "gcc 13" > compiler
fi
exec ./real "$@"
)sh";

/// A world in which the recipe's compiler is upgraded.
class UpgradedWorld : public World {
 public:
  UpgradedWorld() : World{quick_world()} { std::ofstream{folder_ / "compiler"} << "gcc 12\n"; }

  void upgrade() const { std::ofstream{folder_ / "compiler"} << "gcc 13\n"; }

  /// Upgrades the compiler during this build. Builds are counted from 1.
  void upgrade_during(int build) const { std::ofstream{folder_ / "upgrade"} << build << '\n'; }

  /// Returns how often the commit of a nightly was built.
  std::ptrdiff_t builds_of(json const& nightly) const {
    auto const commit = nightly.at("commit").get<std::string>();
    std::ifstream stream{folder_ / "built"};
    std::ptrdiff_t builds = 0;
    for (std::string line; std::getline(stream, line);)
      builds += line == commit ? 1 : 0;
    return builds;
  }

 private:
  fs::path folder_ = wrap_recipe(upgraded_recipe);
};

TEST(Dependency, OfTheRecipeIsBlamedAndNoCommit) {
  World world{world_with_dependency(false)};
  release_up_to(world, 0);
  ASSERT_EQ(world.run({"check"}).status, 0);
  pack_with_dependency(world);
  release_up_to(world, 1);

  auto const check = world.run({"check", "--json"});

  expect_environment(world, check);
  EXPECT_EQ(world.run({"check", "--json"}).out, check.out)
      << "a second check prints another answer";
}

TEST(Dependency, OfAPackageIsBlamedAndNoCommit) {
  World world{world_with_dependency(false)};
  auto const nightlies = world.directory() / "nightlies";
  world.configure({{"feed", {{"kind", "directory"}, {"path", nightlies.string()}}}});
  auto const& truth = world.truth().at("nightlies");
  build(world, truth.at(0), nightlies / "first");
  pack_with_dependency(world);
  build(world, truth.at(1), nightlies / "second");

  auto const check = world.run({"check", "--json"});

  expect_environment(world, check);
  auto const text = world.run({"check"});
  EXPECT_THAT(text.out, HasSubstr("No commit is to blame (environment)"));
}

/// A world in which some commits have artifacts.
class WorldWithArtifacts : public World {
 public:
  WorldWithArtifacts() : World{world_with_dependency(false)} {
    configure({{"source", {{"artifacts", (artifacts_ / "{commit}").string()}}}});
  }

  /// Provides an artifact of a nightly's commit.
  void provide(std::size_t which, bool with_dependency) {
    auto const& nightly = truth().at("nightlies").at(which);
    pack_with_dependency(*this, with_dependency);
    build(*this, nightly, artifacts_ / nightly.at("commit").get<std::string>());
    pack_with_dependency(*this, false);
  }

 private:
  fs::path artifacts_ = directory() / "artifacts";
};

TEST(Dependency, OfAnArtifactIsBlamedAndNoCommit) {
  WorldWithArtifacts world;
  release_up_to(world, 0);
  ASSERT_EQ(world.run({"check"}).status, 0);
  world.provide(1, true);
  release_up_to(world, 1);

  expect_environment(world, world.run({"check", "--json"}));
}

TEST(Dependency, OfOneArtifactOfTwoMakesNoCommitACulprit) {
  WorldWithArtifacts world;
  world.provide(0, false);
  world.provide(1, true);

  auto const check = world.run({"check", "--json"});

  EXPECT_EQ(check.status, 1) << check.err;
  auto const answer = expect_answer(check);
  ASSERT_EQ(answer.bisections.size(), 1U);
  EXPECT_NE(answer.bisections.front().outcome, "culprit") << check.err;
  for (auto const& finding : answer.bisections.front().findings)
    EXPECT_EQ(finding.culprit, std::nullopt) << check.err;
}

TEST(Dependency, ThatChangedSinceTheLastNightlyHidesNoCulprit) {
  UpgradedWorld world;
  release_up_to(world, 0);
  ASSERT_EQ(world.run({"check"}).status, 0);
  world.upgrade();
  release_up_to(world, 1);

  auto const check = world.run({"check", "--json"});

  expect_truth(world, check);
  auto const bisection = json::parse(check.out).at("incidents").at(0).at("bisections").at(0);
  EXPECT_EQ(bisection.at("packages").at("differences"), (json{"- gcc 12", "+ gcc 13"}));
  EXPECT_EQ(world.builds_of(world.truth().at("nightlies").at(0)), 2) << "once with each compiler";
  EXPECT_EQ(world.builds_of(world.truth().at("nightlies").at(1)), 1);
}

TEST(Dependency, ThatChangedSinceTheLastNightlyStillRecognizesARepeatedCommit) {
  UpgradedWorld world;
  release_up_to(world, 0);
  ASSERT_EQ(world.run({"check"}).status, 0);
  world.upgrade();
  auto const& nightly = world.truth().at("nightlies").at(0);
  release_again(world, nightly, "2025-09-03");

  auto const check = world.run({"check"});

  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_THAT(check.err, HasSubstr("nightly_repeats date=2025-09-03"));
  EXPECT_EQ(world.builds_of(nightly), 1);
}

TEST(Dependency, ThatChangesDuringABuildRestartsTheBisection) {
  UpgradedWorld world;
  world.upgrade_during(4);  // the second build after those of the nightlies

  auto const interrupted = world.run({"check", "--json"});

  EXPECT_EQ(interrupted.status, 2) << interrupted.err;
  EXPECT_THAT(interrupted.err, HasSubstr("has changed: - gcc 12, + gcc 13"));

  auto const check = world.run({"check", "--json"});

  expect_truth(world, check);
  EXPECT_THAT(check.err, HasSubstr("bisection_begins_again id=1"));
  auto const& nightlies = world.truth().at("nightlies");
  EXPECT_EQ(world.builds_of(nightlies.at(0)), 2) << "once with each compiler";
  EXPECT_EQ(world.builds_of(nightlies.at(1)), 2) << "once with each compiler";
}

TEST(Dependency, ThatChangedBetweenTwoBisectionsChangesTheRecipeOfTheSecond) {
  UpgradedWorld world;
  auto const empty = world.directory() / "no-nightlies";
  fs::create_directories(empty);
  world.configure({{"feed", {{"kind", "directory"}, {"path", empty.string()}}}});
  Service service{world};
  auto const first = ended_bisection(service, ask(world, service));
  expect_culprit(world, bisection_of(first));

  world.upgrade();
  auto const second = ended_bisection(service, ask(world, service));

  expect_culprit(world, bisection_of(second));
  EXPECT_NE(second.at("recipe"), first.at("recipe"));
  EXPECT_EQ(second.at("packages"), nullptr) << "no nightly was ever built";
  EXPECT_EQ(world.builds_of(world.truth().at("nightlies").at(0)), 2) << "once with each compiler";
}

}  // namespace
}  // namespace torchwatch::e2e
