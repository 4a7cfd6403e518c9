#include "daemon/builds/holds.h"

#include <gmock/gmock.h>

#include "tests/storage/samples.h"

namespace torchwatch::builds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class HoldsTest : public testing::Test {
 protected:
  /// Five nights of commits a to e, fetched and judged.
  HoldsTest() {
    needs.builds = "/state/builds";
    for (char digit = 'a'; digit <= 'e'; ++digit) {
      auto const number = digit - 'a' + 1;
      auto nightly = tests::nightly_of("2026-01-0" + std::to_string(number), digit);
      nightly.id = NightlyId{number};
      nightly.prefix = "/state/builds/nightly-" + std::to_string(number) + "/libtorch";
      nightly.state = NightlyState::done;
      needs.nightlies.push_back(nightly);
      keep("nightly-" + std::to_string(number));
    }
  }

  void keep(std::string name) {
    KeptBuild build;
    build.name = std::move(name);
    builds.push_back(build);
  }

  Holds holds() const { return holds_on(builds, needs); }

  std::vector<std::string> held() const {
    std::vector<std::string> names;
    for (auto const& [name, who] : holds())
      names.push_back(name);
    return names;
  }

  Needs needs;
  std::vector<KeptBuild> builds;
};

TEST_F(HoldsTest, TheNextNightlyNeedsItsBaseline) {
  EXPECT_THAT(holds(), ElementsAre(Pair("nightly-5", ElementsAre("baseline of the next nightly"))));
}

TEST_F(HoldsTest, ANightlyThatFailedIsNoBaseline) {
  needs.nightlies[4].state = NightlyState::failed;
  EXPECT_THAT(held(), ElementsAre("nightly-4"));
}

TEST_F(HoldsTest, ANightlyHoldsItselfAndItsBaselineUntilItIsJudged) {
  needs.nightlies[4].state = NightlyState::swept;
  needs.nightlies[4].baseline = NightlyId{2};
  EXPECT_THAT(
      holds(),
      UnorderedElementsAre(Pair("nightly-5", ElementsAre("nightly 2026-01-05")),
                           Pair("nightly-4", ElementsAre("baseline of the next nightly")),
                           Pair("nightly-2", ElementsAre("baseline of nightly 2026-01-05"))));
}

TEST_F(HoldsTest, ANightlyHoldsItsBuildBeforeItsPrefixIsKnown) {
  needs.nightlies[4].state = NightlyState::announced;
  needs.nightlies[4].prefix.clear();
  EXPECT_THAT(held(), ElementsAre("nightly-4", "nightly-5"));
}

TEST_F(HoldsTest, ABuildOfItsCommitIsHeldToo) {
  auto const name = std::string(40, 'e') + "-1";
  keep(name);
  needs.nightlies[4].state = NightlyState::announced;
  needs.nightlies[4].prefix.clear();
  EXPECT_THAT(held(), testing::Contains(name));
}

TEST_F(HoldsTest, AnIncidentHoldsBothItsEnds) {
  Incident incident;
  incident.id = IncidentId{7};
  incident.baseline = NightlyId{2};
  incident.nightly = NightlyId{3};
  needs.incidents.push_back(incident);
  auto const all = holds();
  EXPECT_THAT(all.at("nightly-2"), ElementsAre("incident 7"));
  EXPECT_THAT(all.at("nightly-3"), ElementsAre("incident 7"));
}

TEST_F(HoldsTest, ABisectionHoldsTheNightliesBetweenItsEndsAndWhatItMeasured) {
  Bisection bisection;
  bisection.id = BisectionId{4};
  bisection.request.start = tests::sha_of('a');
  bisection.request.end = tests::sha_of('c');
  BisectionStep step;
  step.commits = {tests::sha_of('7')};
  bisection.steps.push_back(step);
  needs.bisections.push_back(bisection);
  auto const measured = std::string(40, '7') + "-2";
  keep(measured);
  keep(std::string(40, '8') + "-2");
  EXPECT_THAT(held(),
              UnorderedElementsAre("nightly-1", "nightly-2", "nightly-3", "nightly-5", measured));
}

TEST_F(HoldsTest, AnAnchorIsTheOldestThatIsThere) {
  bisect::BenchmarkHistory history;
  history.which = {"local", tests::latency_of("dlrm").benchmark};
  for (auto const& nightly : needs.nightlies)
    history.measured.push_back(nightly.id);
  needs.benchmarks = {history};
  EXPECT_THAT(holds().at("nightly-1"), ElementsAre("anchor of 1 benchmark"));

  builds.erase(builds.begin());
  needs.benchmarks = {history, history};
  EXPECT_THAT(holds().at("nightly-2"), ElementsAre("anchor of 2 benchmarks"));
}

TEST_F(HoldsTest, PeopleHoldWhatTheyPinned) {
  builds[1].pin = Pin{"ada", "the release notes quote it", tests::early};
  EXPECT_THAT(holds().at("nightly-2"), ElementsAre("ada: the release notes quote it"));
}

TEST_F(HoldsTest, BuildsThatLieElsewhereAreNobodysBusiness) {
  needs.nightlies[4].prefix = "/srv/nightlies/2026-01-05";
  EXPECT_THAT(holds(), IsEmpty());
}

TEST(NameIn, IsTheDirectoryBelowTheBuilds) {
  EXPECT_EQ(name_in("/state/builds", "/state/builds/nightly-1/libtorch"), "nightly-1");
  EXPECT_EQ(name_in("/state/builds", "/state/builds/nightly-1"), "nightly-1");
  EXPECT_EQ(name_in("/state/builds", "/state/builds"), "");
  EXPECT_EQ(name_in("/state/builds", "/state/buildings/x"), "");
  EXPECT_EQ(name_in("/state/builds", "/state/builds/../../etc"), "");
}

}  // namespace
}  // namespace torchwatch::builds
