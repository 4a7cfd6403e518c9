#include "daemon/nightly/alarms.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "storage/base/date.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class AlarmsTest : public testing::Test {
 protected:
  void night(std::string const& date, std::size_t commit) {
    world.release(date, commit);
    ASSERT_TRUE(world.pass());
  }

  fakes::World world;
};

TEST_F(AlarmsTest, RaiseMissingNightlyWhenNoneArrives) {
  night("2026-01-01", 0);
  world.clock.time += std::chrono::hours{37};
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::missing_nightly));

  night("2026-01-02", 1);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(AlarmsTest, FindADeadFeedAtTheFirstLook) {
  world.release("2025-12-01", 0);
  world.clock.time = Timestamp{*day_of("2025-12-12")};
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::stale_feed));
  EXPECT_THAT(world.parts->store.alarms().open().at(0).detail,
              testing::HasSubstr("the newest nightly is of 2025-12-01, 11 days ago"));

  night("2025-12-12", 1);
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::stale_feed)));
}

TEST_F(AlarmsTest, NameThePythonsOfNewerNightlies) {
  world.options.feed.python = "cp310";
  world.publish_wheel("2026-01-01", 0);
  world.index.newer = "cp312, cp313";
  world.clock.time += std::chrono::days{12};
  (void)world.pass();
  EXPECT_THAT(
      world.parts->store.alarms().open().at(0).detail,
      testing::HasSubstr("; newer nightlies exist for cp312, cp313, feed.python is \"cp310\""));
}

TEST_F(AlarmsTest, ReportAFeedOlderThanTheJudgedNightlies) {
  world.deliver("2026-01-05", 1);
  ASSERT_TRUE(world.pass());
  ASSERT_TRUE(world.pass());
  EXPECT_EQ(world.parts->announcer.behind(), "");

  auto const empty = world.folder.path() / "empty";
  std::filesystem::create_directory(empty);
  world.options.feed.path = empty;
  world.restart();
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.parts->announcer.behind(),
              testing::HasSubstr("it has no nightly, and nightly 2026-01-05 is known"));
  EXPECT_THAT(world.nightlies(), testing::SizeIs(1));
}

/// A directory of builds that may contain any entries.
class OddEntryTest : public AlarmsTest {
 protected:
  OddEntryTest() {
    world.deliver("2026-01-01", 0);
    std::filesystem::create_directory(odd_.parent_path());
  }

  /// Alarms at the first look, since `check` has no other.
  void expect_alarm(std::string const& why) {
    ASSERT_TRUE(world.pass());
    EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::odd_feed_entry));
    EXPECT_THAT(world.parts->store.alarms().open().at(0).detail, testing::HasSubstr(why));
    EXPECT_EQ(world.newest().date, "2026-01-01");
    EXPECT_EQ(world.newest().state, NightlyState::done);

    std::filesystem::remove_all(odd_.parent_path());
    world.deliver("2026-01-02", 1);
    ASSERT_TRUE(world.pass());
    EXPECT_THAT(world.alarms(), IsEmpty());
    EXPECT_EQ(world.newest().date, "2026-01-02");
  }

  void write(std::string const& date) {
    std::ofstream{odd_} << R"({"commit":")" << world.sha(3).hex << R"(","date":")" << date << "\"}";
  }

  std::filesystem::path const odd_ = world.folder.path() / "delivered/odd/build.json";
};

TEST_F(OddEntryTest, RaisesAnAlarmAtTheSecondLookIfItMayBeIncomplete) {
  std::filesystem::remove(odd_.parent_path());
  ASSERT_TRUE(world.pass());
  std::filesystem::create_directory(odd_.parent_path());
  write("nightly");
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.alarms(), IsEmpty());
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::odd_feed_entry));
}

TEST_F(OddEntryTest, KeepsItsAlarmAfterRestartsAndWithoutAReplyOfTheFeed) {
  write("nightly");
  ASSERT_TRUE(world.pass());
  world.restart();
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::odd_feed_entry));

  world.options.feed.path = "/nowhere";
  world.restart();
  EXPECT_FALSE(world.pass());
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::odd_feed_entry));
  auto const alarms = world.parts->store.alarms().all();
  EXPECT_THAT(alarms, testing::SizeIs(1)) << "it was never cleared";
}

TEST_F(OddEntryTest, WithAnInvalidDate) {
  write("nightly");
  expect_alarm("date: found \"nightly\", allowed is YYYY-MM-DD");
}

TEST_F(OddEntryTest, WithADateInTheFuture) {
  write("9999-12-31");
  expect_alarm("nightly 9999-12-31");
}

TEST_F(OddEntryTest, WithAPipeForItsManifest) {
  ASSERT_EQ(::mkfifo(odd_.c_str(), 0600), 0);
  expect_alarm("is not a regular file");
}

TEST_F(OddEntryTest, WithAHugeManifest) {
  std::ofstream{odd_} << "{}";
  std::filesystem::resize_file(odd_, std::uintmax_t{300} << 20);
  expect_alarm("has more than 65536 bytes");
}

TEST_F(OddEntryTest, WithADeeplyNestedManifest) {
  constexpr int depth = 30'000;
  std::ofstream{odd_} << R"({"commit":")" << world.sha(3).hex << R"(","date":"2026-01-03","of":)"
                      << std::string(depth, '[') << std::string(depth, ']') << "}";
  expect_alarm("nested deeper than 16 levels");
}

TEST_F(AlarmsTest, ReportANightlyThatFailedJustBeforeAKill) {
  night("2026-01-01", 0);
  auto nightly = *world.parts->store.nightlies().newest();
  nightly.state = NightlyState::failed;
  nightly.failure = "it does not compile";
  world.parts->store.nightlies().update(nightly);

  ASSERT_TRUE(world.pass());

  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::nightly_failed));
}

TEST_F(AlarmsTest, NameABenchmarkThatStopped) {
  night("2026-01-01", 0);
  world.parts->rounds.failures[{"alpha", world.sha(1)}] = JobError::crashed;
  night("2026-01-02", 1);
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::benchmark_stopped));
  EXPECT_EQ(world.parts->store.alarms().open()[0].subject, "local: test_eval[alpha-cpu-eager]");

  night("2026-01-03", 2);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(AlarmsTest, ClearForABenchmarkThatIsNoLongerConfigured) {
  night("2026-01-01", 0);
  for (std::size_t const commit : {1U, 2U})
    world.parts->rounds.failures[{"alpha", world.sha(commit)}] = JobError::crashed;
  night("2026-01-02", 1);
  night("2026-01-03", 2);
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::benchmark_stopped));
  world.options.suite.models = {"beta"};
  night("2026-01-04", 3);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(AlarmsTest, NameABenchmarkThatEndedItsRunner) {
  night("2026-01-01", 0);
  for (std::size_t const commit : {0U, 1U})
    world.parts->rounds.failures[{"alpha", world.sha(commit)}] = JobError::lost;
  night("2026-01-02", 1);
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::benchmark_stopped));

  night("2026-01-03", 2);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(AlarmsTest, NameAMetricThatABenchmarkNoLongerGives) {
  night("2026-01-01", 0);
  world.parts->rounds.without_memory = {world.sha(1), world.sha(2)};
  night("2026-01-02", 1);
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::benchmark_stopped));
  EXPECT_EQ(world.parts->store.alarms().open()[0].detail, "gave no cmem on nightly 2026-01-02");

  night("2026-01-03", 2);
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::benchmark_stopped)) << "nor on its baseline";

  night("2026-01-04", 3);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(AlarmsTest, ReportAnOldBaseline) {
  night("2026-01-01", 0);
  night("2026-01-08", 1);
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::stale_baseline));
  night("2026-01-09", 2);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(AlarmsTest, ReportAHostThatMeasuresDifferently) {
  world.parts->rounds.noise = 0.001;
  night("2026-01-01", 0);
  auto const same = world.parts->rounds.level;
  world.parts->rounds.level = [&](Series const& series, Build const& build) {
    return 1.5 * same(series, build);
  };
  night("2026-01-02", 1);
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::environment));

  night("2026-01-03", 2);
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::environment)));
}

/// A host whose speed changes from nightly to nightly.
class PaceAlarm : public AlarmsTest {
 protected:
  PaceAlarm() {
    world.parts->rounds.noise = 0.003;
    world.parts->rounds.level = [this, same = world.parts->rounds.level](Series const& series,
                                                                         Build const& build) {
      return (series.metric == Metric::latency ? pace : 1) * same(series, build);
    };
  }

  void next_night(double pace_of_night) {
    pace = pace_of_night;
    ++nights;
    night("2026-01-0" + std::to_string(nights), nights - 1);
  }

  double pace = 1;
  std::size_t nights = 0;
};

TEST_F(PaceAlarm, IsNoAlarmOnTheFirstNights) {
  for (double const pace_of_night : {1.0, 1.04, 0.86, 1.1}) {
    next_night(pace_of_night);
    EXPECT_THAT(world.alarms(), IsEmpty()) << nights;
  }
}

TEST_F(PaceAlarm, IsRaisedOnFirstSlowNightly_AndFailsNoBenchmark) {
  for (double const pace_of_night : {1.0, 1.01, 1.0, 0.99, 1.0, 1.01}) {
    next_night(pace_of_night);
    EXPECT_THAT(world.alarms(), IsEmpty()) << nights;
  }
  next_night(1.3);
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::environment));
  auto const alarm = world.parts->store.alarms().open().at(0);
  EXPECT_THAT(alarm.detail, testing::HasSubstr("latency in 2 of 2 series, +28"));
  EXPECT_THAT(alarm.detail, testing::HasSubstr("(5 earlier nightlies: up to 1."));
  EXPECT_THAT(world.parts->store.incidents().all(), IsEmpty());
  EXPECT_THAT(world.parts->store.bisections().all_in_brief(), IsEmpty());

  next_night(1.3);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(PaceAlarm, IsNoAlarmWhenItChangesOnEveryNightly) {
  for (double const pace_of_night : {1.0, 1.15, 0.9, 1.05, 0.85, 1.1, 1.0, 0.87, 1.13}) {
    next_night(pace_of_night);
    EXPECT_THAT(world.alarms(), IsEmpty()) << nights;
  }
  EXPECT_THAT(world.parts->store.incidents().all(), IsEmpty());
}

TEST_F(AlarmsTest, NameABenchmarkThatCouldNotBeCompared) {
  night("2026-01-01", 0);
  world.change(1, "alpha", 1.2);
  world.parts->rounds.before = [&](measure::RoundKey const& key) {
    if (key.campaign == Campaign::of(NightlyId{2}) && key.round == 2)
      world.parts->rounds.failures[{"alpha", world.sha(1)}] = JobError::memory;
  };
  night("2026-01-02", 1);
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::benchmark_undecided));
  EXPECT_EQ(world.parts->store.alarms().open()[0].detail,
            "could not be compared on nightly 2026-01-02: memory, the script says so");

  world.parts->rounds.before = [](measure::RoundKey const&) {
  };
  world.parts->rounds.failures.clear();
  night("2026-01-03", 2);
  EXPECT_THAT(world.alarms(), IsEmpty());
  EXPECT_THAT(world.parts->store.incidents().all(), testing::SizeIs(1))
      << "it is as fast as the night before, which did not judge it";
}

TEST_F(AlarmsTest, ClearADriftThatAUserAccepted) {
  auto const series = world.series("alpha");
  auto& store = world.parts->store;
  store.alarms().raise(AlarmKind::drift, drift_subject(series), "slower", world.clock.now());
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::drift));
}

/// Four nightlies of alpha, compared with anchors by hand.
class DriftTest : public AlarmsTest {
 protected:
  DriftTest() {
    for (std::size_t i = 0; i < 4; ++i) {
      Nightly nightly;
      nightly.date = "2026-01-0" + std::to_string(i + 1);
      nightly.commit = world.sha(i);
      world.parts->store.nightlies().announce(nightly);
    }
  }

  /// Both counted from 0.
  void compare(std::size_t night, std::size_t anchor, Verdict verdict) {
    auto const series = world.series("alpha");
    auto const nightly = world.nightlies().at(night);
    auto anchors = world.parts->store.anchors();
    anchors.choose({series.fleet, series.benchmark}, nightly.id, world.nightlies().at(anchor).id);
    anchors.record(nightly.id, {series, {verdict, 10, 11, std::nullopt, 0.001, 9}});
    world.parts->alarms.check_anchors(nightly);
  }
};

TEST_F(DriftTest, NamesTheNightliesThatDidNotJudgeTheSeries) {
  compare(2, 0, Verdict::regression);
  EXPECT_THAT(world.parts->store.alarms().open().at(0).detail,
              testing::HasSubstr("; 1 of the 1 nightlies in between did not judge the series "
                                 "(2026-01-02)"));
}

TEST_F(DriftTest, SaysThatNoNightlyChangedAsMuchWhenAllWereJudged) {
  auto& store = world.parts->store;
  auto const between = world.nightlies().at(1);
  JobOutcome outcome;
  auto const series = world.series("alpha");
  outcome.key = {Campaign::of(between.id), series.fleet, series.benchmark, between.commit, 0};
  outcome.values[Metric::latency] = {10, {10}};
  outcome.fingerprint = "{}";
  store.jobs().record({outcome});
  store.histories().keep(between.id);
  compare(2, 0, Verdict::regression);
  EXPECT_THAT(store.alarms().open().at(0).detail,
              testing::HasSubstr(", although no nightly in between changed as much"));
}

TEST_F(DriftTest, IsOverWhenTheSeriesIsBack) {
  compare(1, 0, Verdict::regression);
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::drift));
  compare(2, 0, Verdict::unchanged);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(DriftTest, IsNotOverForAnAnchorThatHasIt) {
  compare(1, 0, Verdict::regression);
  compare(2, 1, Verdict::unchanged);
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::drift));
  compare(3, 1, Verdict::improvement);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(DriftTest, IsClearedWhenARegressionOpensAnIncident) {
  compare(1, 0, Verdict::regression);
  world.parts->store.incidents().record(
      world.nightlies().at(2).id,
      {world.series("alpha"), {Verdict::regression, 10, 12, std::nullopt, 0.001, 9}});
  compare(3, 2, Verdict::unchanged);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(DriftTest, IsOverWhenANightlyImprovedTheSeries) {
  compare(1, 0, Verdict::regression);
  world.parts->store.incidents().record(
      world.nightlies().at(2).id,
      {world.series("alpha"), {Verdict::improvement, 12, 10, std::nullopt, 0.001, 9}});
  compare(3, 2, Verdict::unchanged);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::nightly
