#include "daemon/nightly/alarms.h"

#include <gmock/gmock.h>

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

TEST_F(AlarmsTest, MissANightlyThatDoesNotCome) {
  night("2026-01-01", 0);
  world.clock.time += std::chrono::hours{37};
  ASSERT_TRUE(world.pass());
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::missing_nightly));

  night("2026-01-02", 1);
  EXPECT_THAT(world.alarms(), IsEmpty());
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

TEST_F(AlarmsTest, SayThatABaselineIsOld) {
  night("2026-01-01", 0);
  night("2026-01-08", 1);
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::stale_baseline));
  night("2026-01-09", 2);
  EXPECT_THAT(world.alarms(), IsEmpty());
}

TEST_F(AlarmsTest, SeeAHostThatMeasuresOtherwise) {
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
}

TEST_F(AlarmsTest, ForgetADriftThatSomebodyAccepted) {
  auto const series = world.series("alpha");
  auto& store = world.parts->store;
  store.alarms().raise(AlarmKind::drift, drift_subject(series), "slower", world.clock.now());
  EXPECT_THAT(world.alarms(), ElementsAre(AlarmKind::drift));
}

}  // namespace
}  // namespace torchwatch::nightly
