#include "storage/configurations.h"

#include <string>

#include <gmock/gmock.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A nightly that the fleet "local" measured, with verdict, mute and alarm.
class ConfigurationsTest : public TablesTest {
 protected:
  ConfigurationsTest() {
    auto nightly = store.nightlies().find(announce("2026-01-02", 'a')).value();
    store.jobs().record({outcome_of(Campaign::of(nightly.id), 0, 10)});
    store.histories().keep(nightly.id);
    store.incidents().record(nightly.id, {latency_of("dlrm"), slower()});
    Ruling mute;
    mute.kind = RulingKind::mute;
    mute.series.fleet = "local";
    mute.who = "ada";
    mute.given_at = early;
    store.rulings().give(mute);
    store.alarms().raise(AlarmKind::environment, "local", "kernel", early);
    store.alarms().raise(AlarmKind::runner_lost, "local: slot 0", "gone", early);
    store.alarms().raise(AlarmKind::runner_lost, "locality: slot 0", "gone", early);
  }

  static Series on(std::string const& fleet) {
    auto series = latency_of("dlrm");
    series.fleet = fleet;
    return series;
  }

  std::vector<std::string> subjects() {
    std::vector<std::string> all;
    for (auto const& alarm : store.alarms().open())
      all.push_back(alarm.subject);
    return all;
  }
};

TEST_F(ConfigurationsTest, RenamingAFleetTakesItsHistoryVerdictsAndRulingsAlong) {
  EXPECT_GT(store.configurations().rename_fleet("local", "epyc"), 0);

  EXPECT_THAT(store.histories().of(on("epyc")), SizeIs(1));
  EXPECT_THAT(store.histories().of(on("local")), IsEmpty());
  EXPECT_THAT(store.incidents().verdicts_of({"epyc", latency_of("dlrm").benchmark}), SizeIs(1));
  EXPECT_TRUE(store.rulings().is_muted(on("epyc"), early));
  EXPECT_FALSE(store.rulings().is_muted(on("local"), early));
  EXPECT_THAT(subjects(), ElementsAre("epyc", "epyc: slot 0", "locality: slot 0"));
}

TEST_F(ConfigurationsTest, RenamingAFleetKeepsItsSlotsQuarantined) {
  SlotState state;
  state.fleet = "local";
  state.slot = 2;
  state.use = SlotUse::quarantined;
  store.slots().set(state);

  store.configurations().rename_fleet("local", "epyc");

  EXPECT_THAT(store.slots().quarantined("epyc"), ElementsAre(2));
  EXPECT_THAT(store.slots().quarantined("local"), IsEmpty());
}

TEST_F(ConfigurationsTest, RenamingAgainChangesNothing) {
  store.configurations().rename_fleet("local", "epyc");
  EXPECT_EQ(store.configurations().rename_fleet("local", "epyc"), 0);
  EXPECT_THAT(store.histories().of(on("epyc")), SizeIs(1));
}

TEST_F(ConfigurationsTest, RenamingJoinsTheHistoryThatTheNewNameHasAlready) {
  auto const later = announce("2026-01-03", 'b');
  auto outcome = outcome_of(Campaign::of(later), 0, 12);
  outcome.key.fleet = "epyc";
  outcome.key.commit = sha_of('b');
  store.jobs().record({outcome});
  store.histories().keep(later);

  store.configurations().rename_fleet("local", "epyc");

  EXPECT_THAT(store.histories().of(on("epyc")), SizeIs(2));
  EXPECT_THAT(store.histories().of(on("local")), IsEmpty());
}

TEST_F(ConfigurationsTest, RenamingAnUnknownFleetChangesNothing) {
  EXPECT_EQ(store.configurations().rename_fleet("gpu", "epyc"), 0);
  EXPECT_THAT(store.histories().of(on("local")), SizeIs(1));
}

TEST_F(ConfigurationsTest, ChangesAreStoredWithTheConfiguration) {
  EXPECT_FALSE(store.configurations().last());
  store.configurations().note("{}", {});
  store.configurations().note(R"({"a":1})", {{"a", "", "1", "counts from now on", early}});
  EXPECT_EQ(store.configurations().last(), R"({"a":1})");
  auto const changes = store.configurations().newest(10);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes.front().key, "a");
  EXPECT_EQ(changes.front().effect, "counts from now on");
  EXPECT_EQ(changes.front().at, early);
}

}  // namespace
}  // namespace torchwatch::tests
