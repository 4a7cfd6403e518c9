#include "daemon/builds/build_users.h"

#include <gmock/gmock.h>

#include "tests/storage/samples.h"

namespace torchwatch::builds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class BuildUsersTest : public testing::Test {
 protected:
  /// Five nightlies of commits a to e, fetched and judged.
  BuildUsersTest() {
    references.builds = "/state/builds";
    for (char digit = 'a'; digit <= 'e'; ++digit) {
      auto const number = digit - 'a' + 1;
      auto nightly = tests::nightly_of("2026-01-0" + std::to_string(number), digit);
      nightly.id = NightlyId{number};
      nightly.prefix = "/state/builds/nightly-" + std::to_string(number) + "/libtorch";
      nightly.state = NightlyState::done;
      references.nightlies.push_back(nightly);
      keep("nightly-" + std::to_string(number));
    }
  }

  void keep(std::string name) {
    KeptBuild build;
    build.name = std::move(name);
    builds.push_back(build);
  }

  BuildUsers users() const { return users_of(builds, references); }

  std::vector<std::string> used() const {
    std::vector<std::string> names;
    for (auto const& [name, list] : users())
      names.push_back(name);
    return names;
  }

  BuildReferences references;
  std::vector<KeptBuild> builds;
};

TEST_F(BuildUsersTest, TheNextNightlyUsesItsBaseline) {
  EXPECT_THAT(users(), ElementsAre(Pair("nightly-5", ElementsAre("baseline of the next nightly"))));
}

TEST_F(BuildUsersTest, ANightlyThatFailedIsNoBaseline) {
  references.nightlies[4].state = NightlyState::failed;
  EXPECT_THAT(used(), ElementsAre("nightly-4"));
}

TEST_F(BuildUsersTest, ANightlyUsesItsBuildAndItsBaselineUntilItIsJudged) {
  references.nightlies[4].state = NightlyState::swept;
  references.nightlies[4].baseline = NightlyId{2};
  EXPECT_THAT(
      users(),
      UnorderedElementsAre(Pair("nightly-5", ElementsAre("nightly 2026-01-05")),
                           Pair("nightly-4", ElementsAre("baseline of the next nightly")),
                           Pair("nightly-2", ElementsAre("baseline of nightly 2026-01-05"))));
}

TEST_F(BuildUsersTest, AnEditionThatIsWaitedForUsesTheBaselineOfItsDate) {
  auto& first = references.nightlies[3];
  auto& edition = references.nightlies[4];
  first.date = edition.date;
  first.version = edition.version = "2.9";
  first.file = edition.file = PublishedFile{};
  edition.state = NightlyState::announced;
  EXPECT_THAT(
      users(),
      UnorderedElementsAre(Pair("nightly-5", ElementsAre("nightly 2026-01-05")),
                           Pair("nightly-4", ElementsAre("baseline of the next nightly")),
                           Pair("nightly-3", ElementsAre("baseline of nightly 2026-01-05"))));
}

TEST_F(BuildUsersTest, ANightlyUsesItsBuildBeforeItsPrefixIsKnown) {
  references.nightlies[4].state = NightlyState::announced;
  references.nightlies[4].prefix.clear();
  EXPECT_THAT(used(), ElementsAre("nightly-4", "nightly-5"));
}

TEST_F(BuildUsersTest, ANightlyUsesTheBuildOfItsCommit) {
  auto const name = std::string(40, 'e') + "-1";
  keep(name);
  references.nightlies[4].state = NightlyState::announced;
  references.nightlies[4].prefix.clear();
  EXPECT_THAT(used(), testing::Contains(name));
}

TEST_F(BuildUsersTest, AnIncidentUsesBothItsEnds) {
  Incident incident;
  incident.id = IncidentId{7};
  incident.baseline = NightlyId{2};
  incident.nightly = NightlyId{3};
  references.incidents.push_back(incident);
  auto const all = users();
  EXPECT_THAT(all.at("nightly-2"), ElementsAre("incident 7"));
  EXPECT_THAT(all.at("nightly-3"), ElementsAre("incident 7"));
}

TEST_F(BuildUsersTest, AnUnfinishedIncidentUsesTheLastGoodBuildOfEachSeries) {
  Incident incident;
  incident.id = IncidentId{7};
  incident.baseline = NightlyId{2};
  incident.nightly = NightlyId{3};
  incident.changes = {{tests::latency_of("dlrm"), tests::slower()},
                      {tests::latency_of("resnet50"), tests::slower()}};
  incident.later_baselines[tests::latency_of("resnet50")] = NightlyId{1};
  references.unfinished.push_back(incident);
  auto const all = users();
  EXPECT_THAT(all.at("nightly-1"), ElementsAre("incident 7"));
  EXPECT_THAT(all.at("nightly-2"), ElementsAre("incident 7"));
  EXPECT_FALSE(all.contains("nightly-3"));
}

TEST_F(BuildUsersTest, ABisectionUsesTheNightliesBetweenItsEndsAndTheCommitsThatItMeasured) {
  Bisection bisection;
  bisection.id = BisectionId{4};
  bisection.request.start = tests::sha_of('a');
  bisection.request.end = tests::sha_of('c');
  BisectionStep step;
  step.commits = {tests::sha_of('7')};
  bisection.steps.push_back(step);
  references.bisections.push_back(bisection);
  auto const measured = std::string(40, '7') + "-2";
  keep(measured);
  keep(std::string(40, '8') + "-2");
  EXPECT_THAT(used(),
              UnorderedElementsAre("nightly-1", "nightly-2", "nightly-3", "nightly-5", measured));
}

TEST_F(BuildUsersTest, ABenchmarkUsesTheOldestAnchorOnTheDisk) {
  bisect::BenchmarkHistory history;
  history.which = {"local", tests::latency_of("dlrm").benchmark};
  for (auto const& nightly : references.nightlies)
    history.measured.push_back(nightly.id);
  references.benchmarks = {history};
  EXPECT_THAT(users().at("nightly-1"), ElementsAre("anchor of 1 benchmark"));

  builds.erase(builds.begin());
  references.benchmarks = {history, history};
  EXPECT_THAT(users().at("nightly-2"), ElementsAre("anchor of 2 benchmarks"));
}

TEST_F(BuildUsersTest, TheNextNightlyUsesTheLastOneThatJudgedASeries) {
  NightOfSeries night;
  night.nightly = NightlyId{2};
  night.is_judged = true;
  references.series.nights.push_back({tests::latency_of("dlrm"), {night}});
  EXPECT_THAT(users().at("nightly-2"), ElementsAre("baseline of 1 series of the next nightly"));
}

TEST_F(BuildUsersTest, ANightlyUsesTheBaselinesOfItsSeriesUntilItIsJudged) {
  references.baselines = {NightlyId{3}};
  EXPECT_THAT(users().at("nightly-3"), ElementsAre("baseline of series of a nightly"));
}

TEST_F(BuildUsersTest, PeopleUseTheBuildsThatTheyPinned) {
  builds[1].pin = Pin{"ada", "the release notes quote it", tests::early};
  EXPECT_THAT(users().at("nightly-2"), ElementsAre("ada: the release notes quote it"));
}

TEST_F(BuildUsersTest, BuildsThatLieElsewhereHaveNoUsers) {
  references.nightlies[4].prefix = "/srv/nightlies/2026-01-05";
  EXPECT_THAT(users(), IsEmpty());
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
