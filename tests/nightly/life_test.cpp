// Lives of incidents, night after night, with scripted measurements.

#include "daemon/nightly/life.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/fakes/memory/executioner.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = IncidentEventKind;

std::vector<Kind> kinds_of(storage::Store& store, IncidentId incident) {
  std::vector<Kind> kinds;
  for (auto const& event : store.incident_events().of(incident))
    kinds.push_back(event.kind);
  return kinds;
}

class LifeTest : public testing::Test {
 protected:
  LifeTest() { world.parts->rounds.noise = 0.002; }

  storage::Store& store() { return world.parts->store; }

  void night(int day, std::size_t commit) {
    world.release("2026-01-" + std::string(day < 10 ? "0" : "") + std::to_string(day), commit);
    ASSERT_TRUE(world.pass());
    ASSERT_EQ(world.newest().state, NightlyState::done);
  }

  /// Alpha is 20% slower from commit 5 on, which came with the second nightly.
  void two_nights() {
    world.change(5, "alpha", 1.2);
    night(1, 0);
    night(2, 8);
    ASSERT_EQ(first().state, IncidentState::explained);
  }

  /// Undoes a change from the next commit on, which lands now. Returns its number.
  std::size_t fix(std::string const& model, double ratio, Metric metric = Metric::latency) {
    world.land("Faster");
    auto const commit = world.trunk.size() - 1;
    world.change(commit, model, 1 / ratio, metric);
    return commit;
  }

  void rule(RulingKind kind) {
    Ruling ruling;
    ruling.kind = kind;
    ruling.incident = IncidentId{1};
    ruling.who = "ada";
    ruling.why = "pays for itself";
    ruling.given_at = world.clock.now();
    store().rulings().give(ruling);
  }

  Incident first() { return store().incidents().find(IncidentId{1}).value(); }

  std::size_t incidents() { return store().incidents().all().size(); }

  std::vector<Kind> kinds(IncidentId incident = IncidentId{1}) {
    return kinds_of(store(), incident);
  }

  IncidentEvent last_event() { return store().incident_events().newest(1).at(0); }

  std::string report(IncidentId incident = IncidentId{1}) {
    std::ostringstream text;
    text << std::ifstream{store().incidents().find(incident).value().report}.rdbuf();
    return text.str();
  }

  fakes::World world;
};

TEST_F(LifeTest, RegressionIsExplainedAndFixedByARevert) {
  two_nights();
  world.land("Commit 9 (#1009)");
  night(3, 9);
  EXPECT_THAT(kinds(), ElementsAre(Kind::opened, Kind::explained)) << "it persists: no news";
  EXPECT_EQ(store().incident_events().of(IncidentId{1}).at(1).commit, world.sha(5));

  world.land_revert_of(5);
  world.change(10, "alpha", 1 / 1.2);
  night(4, 9);
  EXPECT_EQ(first().state, IncidentState::fix_expected);
  EXPECT_EQ(last_event().commit, world.sha(10));

  night(5, 10);
  EXPECT_EQ(first().state, IncidentState::fixed);
  EXPECT_THAT(kinds(), ElementsAre(Kind::opened, Kind::explained, Kind::fix_expected, Kind::fixed));
  EXPECT_EQ(last_event().commit, world.sha(10));
  EXPECT_EQ(last_event().nightly, world.newest().id);
  EXPECT_THAT(report(), HasSubstr("**Fixed** in nightly `2026-01-05`"));
  auto const recoveries = store().incidents().recoveries(IncidentId{1});
  ASSERT_THAT(recoveries, SizeIs(1));
  EXPECT_NEAR(recoveries[0].comparison.ratio.value().ratio, 1, 0.02)
      << "compared with the last good build";

  world.land("Commit 11 (#1011)");
  night(6, 11);
  EXPECT_THAT(kinds(), SizeIs(4));
}

TEST_F(LifeTest, FixIsFoundAfterTheTrunkWasRewritten) {
  two_nights();
  auto const dropped = world.trunk.branch_off(8, 1).back();
  std::ofstream{world.trunk.path() + "/refs/heads/main"} << dropped.hex << '\n';
  night(3, 8);
  EXPECT_EQ(first().state, IncidentState::explained);

  world.land_revert_of(5);
  night(4, 8);
  EXPECT_EQ(first().state, IncidentState::fix_expected);
  EXPECT_EQ(last_event().commit, world.sha(9));
}

TEST_F(LifeTest, RangeIsNamedWhereNoCommitSaysThatItFixes) {
  two_nights();
  auto const commit = fix("alpha", 1.2);
  night(3, commit);

  EXPECT_EQ(first().state, IncidentState::fixed);
  EXPECT_EQ(last_event().commit.hex, "");
  EXPECT_THAT(last_event().detail, HasSubstr(short_of(world.sha(commit))));
}

TEST_F(LifeTest, IncidentIsPartlyFixedUntilAllSeriesAreBack) {
  world.change(3, "beta", 1.2, Metric::cmem);
  two_nights();
  ASSERT_THAT(first().changes, SizeIs(2));
  night(3, fix("alpha", 1.2));
  EXPECT_EQ(first().state, IncidentState::partly_fixed);

  world.land("Commit 10 (#1010)");
  night(4, world.trunk.size() - 1);
  EXPECT_THAT(kinds(), ElementsAre(Kind::opened, Kind::explained, Kind::partly_fixed));

  night(5, fix("beta", 1.2, Metric::cmem));
  EXPECT_EQ(first().state, IncidentState::fixed);
  EXPECT_THAT(store().incidents().recoveries(IncidentId{1}), SizeIs(2));
}

TEST_F(LifeTest, PartOfTheStepBackIsNoFix) {
  two_nights();
  world.land("Faster");
  world.change(9, "alpha", 1.1 / 1.2);
  night(3, 9);

  EXPECT_EQ(first().state, IncidentState::explained);
  EXPECT_THAT(store().incidents().recoveries(IncidentId{1}), IsEmpty());
}

TEST_F(LifeTest, SameStepAfterAFixReturns_AndIsFixedAgain) {
  two_nights();
  night(3, fix("alpha", 1.2));
  world.land("Slower");
  world.change(10, "alpha", 1.2);
  night(4, 10);

  EXPECT_EQ(first().state, IncidentState::returned);
  EXPECT_EQ(incidents(), 1U);
  EXPECT_EQ(std::ranges::count(kinds(), Kind::returned), 1);
  EXPECT_THAT(store().incidents().recoveries(IncidentId{1}), IsEmpty());
  EXPECT_EQ(store().incidents().of_nightly(world.newest().id)->id, IncidentId{1});

  night(5, fix("alpha", 1.2));
  EXPECT_EQ(first().state, IncidentState::fixed);
  EXPECT_THAT(first().changes, SizeIs(1));
}

TEST_F(LifeTest, OtherStepAfterAFixIsAnotherIncident) {
  two_nights();
  night(3, fix("alpha", 1.2));
  world.land("Slower");
  world.change(10, "alpha", 1.6);
  night(4, 10);

  EXPECT_EQ(first().state, IncidentState::fixed);
  EXPECT_EQ(incidents(), 2U);
}

TEST_F(LifeTest, SameStepLongAfterAFixIsAnotherIncident) {
  world.options.decide.return_nights = 1;
  two_nights();
  night(3, fix("alpha", 1.2));
  world.land("Commit 10 (#1010)");
  night(4, 10);
  world.land("Slower");
  world.change(11, "alpha", 1.2);
  night(5, 11);

  EXPECT_EQ(first().state, IncidentState::fixed);
  EXPECT_EQ(incidents(), 2U);
}

TEST_F(LifeTest, RelandLongAfterAFixReturns) {
  world.options.decide.return_nights = 1;
  two_nights();
  night(3, fix("alpha", 1.2));
  world.land("Commit 10 (#1010)");
  night(4, 10);
  world.land("Reland \"Commit 5 (#1005)\" (#1100)");
  world.change(11, "alpha", 1.4);
  night(5, 11);

  EXPECT_EQ(first().state, IncidentState::returned);
  EXPECT_EQ(incidents(), 1U);
  auto const events = store().incident_events().of(IncidentId{1});
  auto const returned = std::ranges::find(events, Kind::returned, &IncidentEvent::kind);
  ASSERT_NE(returned, events.end());
  EXPECT_EQ(returned->commit, world.sha(11));
}

/// Beta's worker crashes on the second nightly, which brought the incident of alpha.
class LaterSeriesTest : public LifeTest {
 protected:
  void two_nights_with_a_crash() {
    world.change(3, "alpha", 1.2);
    world.parts->rounds.failures[{"beta", world.sha(4)}] = JobError::crashed;
    night(1, 0);
    night(2, 4);
    ASSERT_THAT(first().changes, SizeIs(1));
  }
};

TEST_F(LaterSeriesTest, JoinTheIncidentOfTheirCulprit) {
  world.change(3, "beta", 1.3);
  two_nights_with_a_crash();
  night(3, 6);

  EXPECT_EQ(incidents(), 1U);
  ASSERT_THAT(first().changes, SizeIs(2));
  EXPECT_EQ(first().changes[1].series, world.series("beta"));
  EXPECT_EQ(std::ranges::count(kinds(), Kind::series_joined), 1);
  EXPECT_EQ(store().incidents().of_nightly(world.newest().id)->id, IncidentId{1});
  EXPECT_THAT(report(), HasSubstr("beta"));

  world.land("Faster");
  world.change(9, "alpha", 1 / 1.2);
  world.change(9, "beta", 1 / 1.3);
  night(4, 9);
  EXPECT_EQ(first().state, IncidentState::fixed);
}

TEST_F(LaterSeriesTest, OpenAnIncidentThatNamesTheEarlierOneForAnotherCulprit) {
  world.change(6, "beta", 1.3);
  two_nights_with_a_crash();
  night(3, 8);

  EXPECT_EQ(incidents(), 2U);
  EXPECT_THAT(first().changes, SizeIs(1));
  auto const opened = store().incident_events().of(IncidentId{2}).at(0);
  EXPECT_EQ(opened.kind, Kind::opened);
  EXPECT_THAT(opened.detail, HasSubstr("incident 1 of nightly 2026-01-02"));
  EXPECT_THAT(opened.detail, HasSubstr("another commit caused it"));
  EXPECT_THAT(kinds(IncidentId{2}), ElementsAre(Kind::opened, Kind::explained));
  EXPECT_THAT(report(IncidentId{2}), HasSubstr("**Earlier incident:**"));
}

TEST_F(LaterSeriesTest, JoinAtOnceOnANightlyOfTheSameCommit) {
  world.change(3, "beta", 1.3);
  two_nights_with_a_crash();
  world.parts->rounds.failures.clear();
  night(3, 4);

  EXPECT_EQ(incidents(), 1U);
  EXPECT_THAT(first().changes, SizeIs(2));
  EXPECT_EQ(std::ranges::count(kinds(), Kind::series_joined), 1);
}

TEST_F(LaterSeriesTest, OpenAnIncidentWhereTheEarlierOneIsFixed) {
  world.change(3, "beta", 1.3);
  world.change(5, "alpha", 1 / 1.2);
  two_nights_with_a_crash();
  world.parts->rounds.failures[{"beta", world.sha(5)}] = JobError::crashed;
  night(3, 5);
  ASSERT_EQ(first().state, IncidentState::fixed);
  night(4, 6);

  EXPECT_EQ(incidents(), 2U);
}

TEST_F(LifeTest, CommitsOfAnotherRangeThatAUserBisectedAreNotItsCauses) {
  two_nights();
  auto const before = causes_of(store(), first()).range;
  EXPECT_THAT(before, testing::Contains(world.sha(6)));
  world.land("Commit 9 (#1009)");
  BisectionRequest wider;
  wider.start = world.sha(0);
  wider.end = world.sha(9);
  wider.series = {world.series("alpha")};
  auto const asked = store().bisections().ask(wider, IncidentId{1}, world.clock.now());
  Commit later;
  later.sha = world.sha(9);
  store().bisections().keep_commits(asked.id, {later});

  EXPECT_EQ(causes_of(store(), first()).range, before);
}

TEST_F(LifeTest, RulingEndsAnIncidentForGood) {
  two_nights();
  rule(RulingKind::accept);
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(first().state, IncidentState::accepted);
  EXPECT_THAT(last_event().detail, HasSubstr("ada: pays for itself"));

  night(3, fix("alpha", 1.2));
  EXPECT_THAT(kinds(), ElementsAre(Kind::opened, Kind::explained, Kind::ruled));
}

TEST_F(LifeTest, FalseAlarmIsARuling) {
  two_nights();
  rule(RulingKind::false_alarm);
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(first().state, IncidentState::false_alarm);
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(std::ranges::count(kinds(), Kind::ruled), 1);
}

TEST_F(LifeTest, IncidentIsStaleOnceAndMayStillBeFixed) {
  world.options.decide.stale_nights = 3;
  two_nights();
  for (std::size_t commit = 9; commit < 14; ++commit) {
    world.land("Commit");
    world.parts->rounds.failures[{"alpha", world.sha(commit)}] = JobError::crashed;
    night(static_cast<int>(commit) - 6, commit);
    EXPECT_EQ(first().state, commit < 11 ? IncidentState::explained : IncidentState::stale);
  }
  EXPECT_THAT(kinds(), ElementsAre(Kind::opened, Kind::explained, Kind::stale));
  EXPECT_THAT(last_event().detail, HasSubstr("alpha"));

  night(8, fix("alpha", 1.2));
  EXPECT_EQ(first().state, IncidentState::fixed);
}

TEST_F(LifeTest, LastGoodBuildIsKeptWhileAnIncidentIsUnfinished) {
  world.change(5, "alpha", 1.2);
  world.publish("2026-01-01", 0);
  ASSERT_TRUE(world.pass());
  world.publish("2026-01-02", 8);
  ASSERT_TRUE(world.pass());
  world.clock.time += std::chrono::days{100};
  auto const refused = world.parts->kept.remove("nightly-1");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("incident 1"));
}

TEST_F(LifeTest, RecoveryIsNotComparedWhereTheLastGoodBuildIsGone) {
  world.change(5, "alpha", 1.2);
  auto const good = world.deliver("2026-01-01", 0);
  ASSERT_TRUE(world.pass());
  world.deliver("2026-01-02", 8);
  ASSERT_TRUE(world.pass());
  std::filesystem::remove_all(good);
  auto const commit = fix("alpha", 1.2);
  world.deliver("2026-01-03", commit);
  ASSERT_TRUE(world.pass());

  EXPECT_EQ(first().state, IncidentState::explained);
}

TEST_F(LifeTest, NoisySeriesThatStayWorseAreNeverCalledFixed) {
  world.options.decide.max_pairs = 30;
  world.change(5, "alpha", 1.1);
  night(1, 0);
  night(2, 8);
  ASSERT_EQ(incidents(), 1U);
  world.parts->rounds.noise = 0.02;
  for (int day = 3; day < 20; ++day) {
    world.land("Commit");
    night(day, world.trunk.size() - 1);
  }
  EXPECT_THAT(store().incidents().recoveries(IncidentId{1}), IsEmpty());
}

/// An incident that is fixed, returns and is fixed again, within one pass over five nightlies.
class LifeKillTest : public testing::Test {
 protected:
  static std::unique_ptr<fakes::World> five_nights() {
    auto world = std::make_unique<fakes::World>(9);
    world->options.suite.models = {"alpha"};
    world->change(2, "alpha", 1.25, Metric::cmem);
    world->change(4, "alpha", 1 / 1.25, Metric::cmem);
    world->change(6, "alpha", 1.25, Metric::cmem);
    world->change(8, "alpha", 1 / 1.25, Metric::cmem);
    for (int night = 0; night < 5; ++night)
      world->release("2026-01-0" + std::to_string(night + 1), 2 * static_cast<std::size_t>(night));
    world->options.feed.backlog = 5;
    world->parts->rounds.noise = 0;
    return world;
  }

  static bool is_killed(fakes::World& world, int writes) {
    fakes::Executioner executioner{world.folder.path() / "torchwatch.sqlite"};
    executioner.grant(writes);
    bool was_killed = false;
    try {
      world.pass().value();
    } catch (std::exception const&) {
      was_killed = true;
    }
    executioner.grant(1'000'000);
    return was_killed;
  }

  /// Returns the events and messages as lines.
  static std::vector<std::string> lines_of(fakes::World& world) {
    std::vector<std::string> lines;
    auto& store = world.parts->store;
    for (auto const& incident : store.incidents().all()) {
      for (auto const& event : store.incident_events().of(incident.id))
        lines.push_back(std::string{to_string(event.kind)} + " " +
                        std::string{to_string(event.state)} + " " + event.commit.hex + " " +
                        std::to_string(event.nightly.value_or(NightlyId{}).value));
      for (auto const& entry : store.outbox().of(incident.id))
        lines.push_back(std::string{to_string(entry.message.action)} + " " +
                        (entry.done_at ? "sent" : "not sent"));
    }
    return lines;
  }
};

TEST_F(LifeKillTest, ComesToTheSameEndWhereverItWasCutOff) {
  fakes::KillPoints const points;
  SCOPED_TRACE("from write " + std::to_string(points.first()) + " on");
  auto const undisturbed = five_nights();
  ASSERT_TRUE(undisturbed->pass());
  auto const expected = lines_of(*undisturbed);
  ASSERT_THAT(kinds_of(undisturbed->parts->store, IncidentId{1}),
              ElementsAre(Kind::opened,
                          Kind::explained,
                          Kind::fixed,
                          Kind::returned,
                          Kind::explained,
                          Kind::fixed));

  int kills = 0;
  for (int writes = points.first();; writes += points.stride()) {
    auto const world = five_nights();
    if (!is_killed(*world, writes)) break;
    ++kills;
    world->restart();
    world->parts->rounds.noise = 0;
    ASSERT_TRUE(world->pass()) << "after " << writes << " writes";
    ASSERT_EQ(lines_of(*world), expected) << "after " << writes << " writes";
  }
  EXPECT_GT(kills, 40 / points.stride());
}

}  // namespace
}  // namespace torchwatch::nightly
