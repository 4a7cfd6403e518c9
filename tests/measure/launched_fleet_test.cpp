#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>

#include "daemon/async/cancellation.h"
#include "daemon/async/when_all.h"
#include "daemon/measure/fleet_rounds.h"
#include "tests/fakes/memory/fake_runner.h"
#include "tests/fakes/memory/scripted_seeds.h"
#include "tests/fakes/memory/world.h"

// Rounds on a fleet whose launcher has a scheduler with a queue.
namespace torchwatch::measure {
namespace {

using namespace std::chrono_literals;
using fakes::Manner;
using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LaunchedFleet : public testing::Test {
 protected:
  LaunchedFleet() {
    runners.answer = [](protocol::Job const& job) {
      return outcome_of(job, 10);
    };
    limits.idle = 0ms;
    limits.queue = 20s;
  }

  static protocol::Message outcome_of(protocol::Job const& job, double ms) {
    protocol::Outcome outcome;
    outcome.id = job.id;
    outcome.benchmark = job.benchmark;
    outcome.metrics["latency"] = {ms, {ms, ms, ms}};
    outcome.metrics["cmem"] = {double{1 << 24}, {}};
    return outcome;
  }

  static Build build_of(char digit) {
    Build build;
    build.prefix = "/build";
    build.manifest.commit = tests::sha_of(digit);
    return build;
  }

  /// Makes the fleet, with the current limits.
  FleetRounds& rounds() {
    if (rounds_) return *rounds_;
    config::FleetOptions fleet;
    fleet.slots = 2;
    fleets_ = std::make_unique<Fleets>(
        loop.get_executor(),
        std::vector{fleet},
        [this](config::FleetOptions const&) { return runners.starter(); },
        limits);
    rounds_ = std::make_unique<FleetRounds>(store, clock, seeds, *fleets_, options, counters);
    return *rounds_;
  }

  boost::asio::awaitable<int> measured(int round) {
    RoundKey key{Campaign::of(NightlyId{1}), "local", tests::latency_of("dlrm").benchmark, round};
    std::vector<Build> builds{build_of('a'), build_of('b')};
    auto const outcomes = co_await rounds().measure(std::move(key), std::move(builds));
    int ok = 0;
    if (outcomes)
      for (auto const& outcome : *outcomes)
        ok += outcome.ok() ? 1 : 0;
    co_return ok;
  }

  /// Measures rounds 0 to `count` - 1 at the same time. Returns the numbers of good processes.
  std::vector<int> measure(int count) {
    std::vector<boost::asio::awaitable<int>> tasks;
    for (int round = 0; round < count; ++round)
      tasks.push_back(measured(round));
    return tests::run(loop, async::when_all(std::move(tasks)));
  }

  int measure_round(int round) { return tests::run(loop, measured(round)); }

  void let_pass(std::chrono::milliseconds time) {
    loop.restart();
    loop.run_for(time);
  }

  std::vector<Alarm> open_alarms() { return store.alarms().open(); }

  fakes::MemoryFolder folder;
  storage::Store store = storage::Store::open(folder.path() / "db").value();
  fakes::TestClock clock;
  boost::asio::io_context loop{1};
  fakes::FakeRunners runners{loop.get_executor()};
  config::Options options = [] {
    config::Options result;
    result.measure.timeout = 0s;
    return result;
  }();
  FleetLimits limits{.hello = 60ms,
                     .grace = 20s,
                     .first_rest = 1ms,
                     .longest_rest = 1ms,
                     .most_failed_starts = 100};
  fakes::ScriptedSeeds seeds;
  metrics::Counters counters;

 private:
  std::unique_ptr<Fleets> fleets_;
  std::unique_ptr<FleetRounds> rounds_;
};

TEST_F(LaunchedFleet, UnusedForItsIdleTime_EndsItsRunners) {
  limits.idle = 100ms;
  ASSERT_THAT(measure(2), Each(2));
  EXPECT_THAT(*runners.ended, IsEmpty());

  let_pass(400ms);

  EXPECT_THAT(*runners.ended, ElementsAre(0, 1));
  EXPECT_THAT(open_alarms(), IsEmpty());
}

TEST_F(LaunchedFleet, WithoutAnIdleTime_KeepsItsRunners) {
  ASSERT_THAT(measure(2), Each(2));
  let_pass(200ms);
  EXPECT_THAT(*runners.ended, IsEmpty());
}

TEST_F(LaunchedFleet, AfterItsIdleTime_StartsARunnerForTheNextRound) {
  limits.idle = 10ms;
  ASSERT_EQ(measure_round(0), 2);
  let_pass(100ms);
  ASSERT_THAT(*runners.ended, ElementsAre(0));

  EXPECT_EQ(measure_round(1), 2);

  EXPECT_THAT(runners.started, ElementsAre(0, 0));
  let_pass(100ms);
  EXPECT_THAT(*runners.ended, ElementsAre(0, 0)) << "again";
}

TEST_F(LaunchedFleet, InALongRound_IsNotUnused) {
  limits.idle = 20ms;
  runners.manners[0] = {Manner::waits_for_its_host};
  EXPECT_EQ(measure_round(0), 2);
  EXPECT_THAT(*runners.ended, IsEmpty());
}

TEST_F(LaunchedFleet, UsedAgainInTime_KeepsItsRunner) {
  limits.idle = 300ms;
  for (int round = 0; round < 8; ++round) {
    ASSERT_EQ(measure_round(round), 2);
    let_pass(50ms);
  }
  EXPECT_THAT(runners.started, ElementsAre(0));
}

TEST_F(LaunchedFleet, WhoseRunnerEndedBetweenRounds_LosesNothing) {
  runners.manners[0] = {Manner::ends_when_idle};
  ASSERT_EQ(measure_round(0), 2);

  EXPECT_EQ(measure_round(1), 2);

  EXPECT_THAT(runners.started, ElementsAre(0, 0));
  EXPECT_THAT(runners.rounds, SizeIs(2));
  EXPECT_THAT(open_alarms(), IsEmpty());
}

TEST_F(LaunchedFleet, InAQueue_WaitsLongerThanForAHello) {
  runners.manners[0] = {Manner::waits_in_queue};
  EXPECT_EQ(measure_round(0), 2);
  EXPECT_THAT(runners.started, ElementsAre(0));
  EXPECT_THAT(open_alarms(), IsEmpty());
}

TEST_F(LaunchedFleet, InAQueueForTooLong_IsAnAlarmAndTheRoundMovesOn) {
  limits.queue = 100ms;
  runners.manners[0] = {Manner::stays_in_queue};

  EXPECT_EQ(measure_round(0), 2);

  EXPECT_THAT(runners.started, ElementsAre(0, 1));
  ASSERT_THAT(open_alarms(), SizeIs(1));
  EXPECT_EQ(open_alarms()[0].subject, "local: slot 0");
  EXPECT_THAT(open_alarms()[0].detail,
              HasSubstr("it waited too long in the queue of its scheduler: srun: job 5 queued"));
}

TEST_F(LaunchedFleet, InAQueue_MovesItsRoundToASlotThatBecomesFree) {
  runners.manners[0] = {Manner::waits_for_its_host};
  runners.manners[1] = {Manner::stays_in_queue};

  EXPECT_THAT(measure(2), ElementsAre(2, 2));

  EXPECT_THAT(runners.started, ElementsAre(0, 1));
  let_pass(20ms);
  EXPECT_THAT(*runners.ended, ElementsAre(1)) << "its request is withdrawn";
  EXPECT_THAT(open_alarms(), IsEmpty());
}

TEST_F(LaunchedFleet, InAQueue_LetsWaitingRoundsHaveFreeSlotsFirst) {
  runners.manners[0] = {Manner::waits_for_its_host};
  runners.manners[1] = {Manner::stays_in_queue};

  EXPECT_THAT(measure(4), ElementsAre(2, 2, 2, 2));

  EXPECT_THAT(runners.started, ElementsAre(0, 1));
  std::vector<std::string> order;
  for (auto const& round : runners.rounds)
    order.push_back(round.jobs.at(0).substr(0, std::string{"nightly/1/0"}.size()));
  EXPECT_THAT(order, ElementsAre("nightly/1/0", "nightly/1/2", "nightly/1/3", "nightly/1/1"));
}

TEST_F(LaunchedFleet, MovedTo_GivesTheOtherSlotBack) {
  runners.manners[0] = {Manner::waits_for_its_host};
  runners.manners[1] = {Manner::stays_in_queue, Manner::good};
  ASSERT_THAT(measure(2), Each(2));

  std::vector<boost::asio::awaitable<int>> tasks;
  tasks.push_back(measured(2));
  tasks.push_back(measured(3));
  EXPECT_THAT(tests::run(loop, async::when_all(std::move(tasks))), Each(2));
  EXPECT_THAT(runners.started, ElementsAre(0, 1, 1));
}

TEST_F(LaunchedFleet, CancelledInAQueue_EndsAsCancelledAndReportsNothing) {
  for (auto& slot : runners.manners)
    slot = {Manner::stays_in_queue};
  std::exception_ptr failure;
  auto on_end = [&](std::exception_ptr thrown, int) {
    failure = thrown;
  };
  boost::asio::cancellation_signal stop;
  boost::asio::co_spawn(
      loop, measured(0), boost::asio::bind_cancellation_slot(stop.slot(), on_end));
  let_pass(50ms);
  EXPECT_THAT(runners.started, ElementsAre(0));

  stop.emit(boost::asio::cancellation_type::terminal);
  let_pass(50ms);

  ASSERT_TRUE(failure);
  EXPECT_TRUE(async::is_cancellation(failure));
  EXPECT_THAT(*runners.ended, ElementsAre(0));
  EXPECT_THAT(open_alarms(), IsEmpty());
  EXPECT_EQ(measure_round(1), 2) << "its slot is free again";
}

TEST_F(LaunchedFleet, LostAfterAnAnswer_CountsNothingTwice) {
  int answers = 0;
  runners.answer = [&](protocol::Job const& job) {
    return outcome_of(job, answers++ == 0 ? 99 : 10);
  };
  runners.manners[0] = {Manner::dies_after_an_answer};
  runners.last_words = "srun: error: Node failure on n1\n";

  EXPECT_EQ(measure_round(0), 2);

  auto const stored = store.jobs().of(Campaign::of(NightlyId{1}));
  ASSERT_THAT(stored, SizeIs(2));
  for (auto const& outcome : stored)
    EXPECT_EQ(outcome.values.at(Metric::latency).value, 10) << "of the runner that answered all";
  EXPECT_THAT(runners.rounds, SizeIs(2));
  EXPECT_THAT(runners.rounds.at(1).jobs.front(), HasSubstr("/0.1/")) << "it cost no attempt";
}

/// The last words of launchers that lose more runners than a round may end.
struct Loss {
  char const* name;
  char const* words;
  bool may_be_by_round;
};

void PrintTo(Loss const& loss, std::ostream* stream) {
  *stream << loss.name;
}

class LossesOfAFleet : public LaunchedFleet, public testing::WithParamInterface<Loss> {};

TEST_P(LossesOfAFleet, FailARoundOnlyWithoutAnotherCause) {
  runners.last_words = GetParam().words;
  for (auto& slot : runners.manners)
    slot.assign(6, Manner::dies_in_round);

  int const ok = measure_round(0);

  auto const stored = store.jobs().of(Campaign::of(NightlyId{1}));
  ASSERT_THAT(stored, SizeIs(2));
  if (GetParam().may_be_by_round) {
    EXPECT_EQ(ok, 0);
    EXPECT_EQ(stored[0].error_code, JobError::lost);
    EXPECT_THAT(runners.rounds, SizeIs(5));
  } else {
    EXPECT_EQ(ok, 2);
    EXPECT_THAT(runners.rounds, SizeIs(Gt(6U)));
    EXPECT_THAT(runners.rounds.back().jobs.front(), HasSubstr("/0.1/"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    By,
    LossesOfAFleet,
    testing::Values(
        Loss{"Preemption",
             "slurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-28T19:38:36 DUE TO "
             "PREEMPTION ***\n",
             false},
        Loss{"NodeFailure", "srun: error: Node failure on n1\n", false},
        Loss{"Cancel",
             "slurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-28T19:38:36 ***\n",
             false},
        Loss{
            "TimeLimitOfTheFirstRound",
            "slurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-28T19:38:36 DUE TO TIME "
            "LIMIT ***\n",
            true},
        Loss{"Memory", "srun: error: n1: task 0: Out Of Memory\n", true},
        Loss{"ACrash", "srun: error: n1: task 0: Killed\n", true}),
    [](auto const& test) { return std::string{test.param.name}; });

TEST_F(LaunchedFleet, WhoseNodeFailed_SaysSoInTheAlarm) {
  runners.manners[0] = {Manner::dies_in_round};
  runners.last_words = "srun: error: Node failure on n1\n";
  limits.first_rest = limits.longest_rest = 20s;  // a new runner would clear the alarm
  ASSERT_EQ(measure_round(0), 2);
  ASSERT_THAT(open_alarms(), SizeIs(1));
  EXPECT_EQ(
      open_alarms()[0].detail,
      "the node failed: runner lost in a round: end of input: srun: error: Node failure on n1");
}

}  // namespace
}  // namespace torchwatch::measure
