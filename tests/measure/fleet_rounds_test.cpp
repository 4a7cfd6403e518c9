#include "daemon/measure/fleet_rounds.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>

#include "daemon/async/when_all.h"
#include "daemon/measure/comparison.h"
#include "daemon/measure/job.h"
#include "runner/turn_order.h"
#include "tests/fakes/memory/fake_runner.h"
#include "tests/fakes/memory/scripted_seeds.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::measure {
namespace {

using namespace std::chrono_literals;
using fakes::Manner;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Two slots of fake runners around the real rounds.
class FleetRoundsTest : public testing::Test {
 protected:
  FleetRoundsTest() {
    runners.answer = [](protocol::Job const& job) -> protocol::Message {
      protocol::Outcome outcome;
      outcome.id = job.id;
      outcome.benchmark = job.benchmark;
      double const ms = job.build.prefix == "/slow" ? 12 : 10;
      outcome.metrics["latency"] = {ms, {ms, ms, ms}};
      outcome.metrics["cmem"] = {double{1 << 24}, {}};
      outcome.seconds = 3;
      return outcome;
    };
  }

  static FleetLimits limits() {
    return {.hello = 50ms,
            .grace = 50ms,
            .first_rest = 200ms,
            .longest_rest = 200ms,
            .most_failed_starts = 3};
  }

  static std::vector<config::FleetOptions> two_slots() {
    config::FleetOptions fleet;
    fleet.slots = 2;
    return {fleet};
  }

  static Build build_of(char digit, std::string prefix = "/fast") {
    Build build;
    build.prefix = std::move(prefix);
    build.manifest.commit = tests::sha_of(digit);
    return build;
  }

  static RoundKey key_of(int round = 0) {
    return {Campaign::of(NightlyId{1}), "local", tests::latency_of("dlrm").benchmark, round};
  }

  Result<std::vector<JobOutcome>> measure(RoundKey key, std::vector<Build> builds) {
    return tests::run(loop, rounds.measure(std::move(key), std::move(builds)));
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
  Fleets fleets{loop.get_executor(),
                two_slots(),
                [this](config::FleetOptions const&) { return runners.starter(); },
                limits()};
  fakes::ScriptedSeeds seeds;
  metrics::Counters counters;
  FleetRounds rounds{store, clock, seeds, fleets, options, counters};
};

TEST_F(FleetRoundsTest, MeasureARoundOnceAndStoreIt) {
  auto const first = measure(key_of(), {build_of('a'), build_of('b')}).value();
  auto const again = measure(key_of(), {build_of('a'), build_of('b')}).value();

  ASSERT_THAT(first, SizeIs(2));
  EXPECT_TRUE(first[0].ok());
  EXPECT_EQ(first[1].key.commit, tests::sha_of('b'));
  EXPECT_EQ(again[1].values.at(Metric::latency).value, 10);
  EXPECT_THAT(runners.rounds, SizeIs(1));
}

TEST_F(FleetRoundsTest, MeasureNoFurtherRoundOnceTheirStepsAreClosed) {
  ASSERT_TRUE(measure(key_of(0), {build_of('a')}));
  EXPECT_EQ(rounds.steps().steps(), 0) << "the result is stored";
  rounds.steps().close();
  bool has_ended = false;
  auto on_end = [&](std::exception_ptr, Result<std::vector<JobOutcome>>) {
    has_ended = true;
  };
  boost::asio::cancellation_signal stop;
  auto waiting = rounds.measure(key_of(1), {build_of('a')});
  boost::asio::co_spawn(
      loop, std::move(waiting), boost::asio::bind_cancellation_slot(stop.slot(), on_end));
  loop.restart();
  loop.run_for(50ms);
  EXPECT_FALSE(has_ended);
  EXPECT_THAT(runners.rounds, SizeIs(1));
  stop.emit(boost::asio::cancellation_type::terminal);
  loop.restart();
  loop.run_for(50ms);
  EXPECT_TRUE(has_ended) << "cancellation ends the wait";
  EXPECT_TRUE(measure(key_of(0), {build_of('a')})) << "a stored round needs no step";
}

/// A runner on another host may send anything.
TEST_F(FleetRoundsTest, RejectImpossibleResultsOfARunner) {
  runners.answer = [](protocol::Job const& job) -> protocol::Message {
    protocol::Outcome outcome;
    outcome.id = job.id;
    outcome.benchmark = job.benchmark;
    outcome.metrics["latency"] = {-1, {-1}, {}};
    return outcome;
  };
  auto const measured = measure(key_of(), {build_of('a')}).value();

  EXPECT_EQ(measured[0].error_code, JobError::protocol);
  EXPECT_THAT(measured[0].error, HasSubstr("the runner answered with"));
  EXPECT_THAT(store.jobs().find(measured[0].key).value().values, IsEmpty());
}

/// The database shows which build had which place, and the seed of the runner.
TEST_F(FleetRoundsTest, DrawWhichBuildHasWhichPlaceAndKeepIt) {
  constexpr int many = 200;
  int first_begins = 0;
  for (int round = 0; round < many; ++round) {
    auto const measured = measure(key_of(round), {build_of('a'), build_of('b', "/slow")}).value();
    EXPECT_EQ(measured[0].values.at(Metric::latency).value, 10);
    EXPECT_EQ(measured[1].values.at(Metric::latency).value, 12);

    auto const& begun = runners.rounds.at(static_cast<std::size_t>(round));
    auto const replayed = runner::TurnOrder{measured[0].seed, runner::Drawn::places, 2}.next();
    for (std::size_t job = 0; job < 2; ++job) {
      auto const stored = store.jobs().find(measured[job].key).value();
      auto const place = static_cast<std::size_t>(stored.place);
      EXPECT_EQ(stored.seed, begun.seed);
      EXPECT_EQ(replayed.at(place), job);
      EXPECT_THAT(begun.jobs.at(place), EndsWith(short_of(stored.key.commit)));
    }
    first_begins += measured[0].place == 0 ? 1 : 0;
  }
  // Beyond four standard deviations of a fair coin; these seeds are the same in every run.
  EXPECT_GT(first_begins, many / 2 - 29);
  EXPECT_LT(first_begins, many / 2 + 29);
}

TEST_F(FleetRoundsTest, DrawASeedForEachRoundAndAttempt) {
  runners.answer = [](protocol::Job const& job) -> protocol::Message {
    return protocol::Failure{job.id, "crashed", "no"};
  };
  std::set<std::uint32_t> drawn;
  for (int round = 0; round < 10; ++round) {
    auto const failed = measure(key_of(round), {build_of('a'), build_of('b')}).value();
    EXPECT_EQ(failed[0].seed, runners.rounds.back().seed) << "of the attempt that counts";
    EXPECT_EQ(failed[1].seed, failed[0].seed);
    EXPECT_NE(failed[1].place, failed[0].place);
  }
  for (auto const& round : runners.rounds)
    drawn.insert(round.seed);
  EXPECT_THAT(runners.rounds, SizeIs(10 * options.measure.attempts));
  EXPECT_THAT(drawn, SizeIs(runners.rounds.size()));
}

TEST_F(FleetRoundsTest, DrawThePlacesOfManyBuilds) {
  std::set<std::vector<std::string>> orders;
  for (int round = 0; round < 100; ++round) {
    auto const outcomes =
        measure(key_of(round), {build_of('a'), build_of('b'), build_of('c')}).value();
    std::vector<std::string> order(3);
    for (auto const& outcome : outcomes)
      order.at(static_cast<std::size_t>(outcome.place)) = outcome.key.commit.hex;
    orders.insert(order);
  }
  EXPECT_THAT(orders, SizeIs(6));
}

TEST_F(FleetRoundsTest, FindNoPatternInTheSystemsSeeds) {
  SystemSeeds system;
  std::set<std::uint32_t> drawn;
  std::uint32_t ever = 0;
  for (int draw = 0; draw < 100; ++draw) {
    auto const seed = system.draw();
    drawn.insert(seed);
    ever |= seed;
  }
  EXPECT_GT(drawn.size(), 95U);
  EXPECT_EQ(ever, 4294967295U) << "all 32 bits";
}

/// A quarantined slot of the fleet "local".
SlotState quarantined_slot(std::size_t number) {
  SlotState state;
  state.fleet = "local";
  state.slot = number;
  state.use = SlotUse::quarantined;
  return state;
}

TEST_F(FleetRoundsTest, LeaveAQuarantinedSlotToItsCheckRounds) {
  store.slots().set(quarantined_slot(0));
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(measure(key_of(round), {build_of('a')}).value()[0].slot, 1);
  auto check = key_of();
  check.campaign = Campaign::slot_check(NightlyId{1}, 0);
  check.slot = 0;
  auto const checked = measure(check, {build_of('a')}).value();

  EXPECT_EQ(checked[0].slot, 0);
  EXPECT_EQ(store.jobs().find(checked[0].key).value().slot, 0);
  EXPECT_THAT(runners.started, ElementsAre(1, 0));

  store.slots().remove("local", 0);
  ASSERT_TRUE(measure(key_of(9), {build_of('a')}));
  EXPECT_EQ(fleets.first().quarantined_slots(), 0);
}

TEST_F(FleetRoundsTest, UseAQuarantinedSlotWhenNoOtherIsLeft) {
  runners.manners[1].assign(9, Manner::ends_at_once);
  store.slots().set(quarantined_slot(0));
  EXPECT_EQ(measure(key_of(), {build_of('a')}).value()[0].slot, 0);
}

TEST_F(FleetRoundsTest, UseEverySlotWhenAllAreQuarantined) {
  store.slots().set(quarantined_slot(0));
  store.slots().set(quarantined_slot(1));
  EXPECT_TRUE(measure(key_of(), {build_of('a')}));
}

TEST_F(FleetRoundsTest, FailACheckRoundWhoseSlotIsLostWithoutUsingAnother) {
  runners.manners[0].assign(1, Manner::dies_in_round);
  auto check = key_of();
  check.slot = 0;
  EXPECT_EQ(measure(check, {build_of('a')}).error().code, ErrorCode::unavailable);
  EXPECT_THAT(runners.started, ElementsAre(0));
  check.slot = 2;
  EXPECT_EQ(measure(check, {build_of('a')}).error().code, ErrorCode::invalid_argument);
}

TEST_F(FleetRoundsTest, KeepTheSecondOfOneCommitApart) {
  auto const outcomes = measure(key_of(), {build_of('a'), build_of('a')}).value();

  EXPECT_EQ(outcomes[1].key.campaign.name, "nightly/1/again");
  auto const& jobs = runners.rounds.at(0).jobs;
  EXPECT_NE(jobs.at(0), jobs.at(1));
  EXPECT_EQ(jobs.at(0).size(), jobs.at(1).size()) << "or the length would identify builds";
}

TEST_F(FleetRoundsTest, RetryOnlyTemporaryFailures) {
  int tried = 0;
  auto code = JobError::crashed;
  runners.answer = [&](protocol::Job const& job) -> protocol::Message {
    ++tried;
    return protocol::Failure{job.id, std::string{to_string(code)}, "no"};
  };
  auto const crashed = measure(key_of(0), {build_of('a')}).value();
  EXPECT_EQ(tried, options.measure.attempts);
  EXPECT_EQ(crashed[0].error_code, JobError::crashed);
  EXPECT_EQ(failure_of(crashed[0]), "crashed, no");

  tried = 0;
  code = JobError::unsupported;
  auto const refused = measure(key_of(1), {build_of('a')}).value();
  EXPECT_EQ(tried, 1);
  EXPECT_EQ(refused[0].error_code, JobError::unsupported);
}

TEST_F(FleetRoundsTest, AlternateBetweenTheTwoFillsOfTheCaches) {
  options.suite.caches = {"TORCHINDUCTOR_CACHE_DIR"};
  std::string fills;
  auto const well = runners.answer;
  runners.answer = [&](protocol::Job const& job) {
    fills += job.caches.fill;
    return well(job);
  };
  for (int round = 0; round < 3; ++round) {
    auto compiled = key_of(round);
    compiled.benchmark.backend = "inductor";
    ASSERT_TRUE(measure(compiled, {build_of('a'), build_of('b')}));
  }
  EXPECT_EQ(fills, "aabbaa") << "both builds of a round have the same one";
}

TEST_F(FleetRoundsTest, RetryAJobWhoseCachesMiss) {
  auto const well = runners.answer;
  runners.answer = [&, misses = 1](protocol::Job const& job) mutable -> protocol::Message {
    if (misses-- > 0) return protocol::Failure{job.id, "cache", "found 1 compiled graphs"};
    return well(job);
  };
  EXPECT_TRUE(measure(key_of(0), {build_of('a')}).value()[0].ok());
  runners.answer = [](protocol::Job const& job) -> protocol::Message {
    return protocol::Failure{job.id, "cache", "found 1 compiled graphs"};
  };
  EXPECT_EQ(measure(key_of(1), {build_of('a')}).value()[0].error_code, JobError::cache);
}

TEST_F(FleetRoundsTest, MeasureOneByOneWhenADeviceLacksMemory) {
  auto const measured_well = runners.answer;
  runners.answer = [&](protocol::Job const& job) -> protocol::Message {
    if (!runners.rounds.back().one_by_one)
      return protocol::Failure{job.id, "device_memory", "CUDA out of memory"};
    return measured_well(job);
  };

  auto const measured = measure(key_of(), {build_of('a'), build_of('b')}).value();

  ASSERT_THAT(runners.rounds, SizeIs(2));
  EXPECT_FALSE(runners.rounds[0].one_by_one);
  EXPECT_TRUE(runners.rounds[1].one_by_one);
  EXPECT_TRUE(measured[0].ok());
  EXPECT_TRUE(measured[1].ok());
}

TEST_F(FleetRoundsTest, CountNoAttemptForALostRunner) {
  runners.manners[0] = {Manner::dies_in_round};
  auto const outcomes = measure(key_of(), {build_of('a'), build_of('b')}).value();

  EXPECT_TRUE(outcomes[0].ok());
  EXPECT_THAT(runners.started, ElementsAre(0, 1)) << "another slot has it at once";
  EXPECT_THAT(runners.rounds.at(1).jobs.front(), HasSubstr("/0.1/")) << "it cost no attempt";
  ASSERT_THAT(open_alarms(), SizeIs(1));
  EXPECT_EQ(open_alarms()[0].kind, AlarmKind::runner_lost);
  EXPECT_EQ(open_alarms()[0].subject, "local: slot 0");
  EXPECT_THAT(open_alarms()[0].detail, HasSubstr("node failure"));
}

TEST_F(FleetRoundsTest, CountNoAttemptForAHostThatStartsNoWorkers) {
  int refusals = 2 * options.measure.attempts;
  auto const well = runners.answer;
  runners.answer = [&](protocol::Job const& job) -> protocol::Message {
    if (refusals-- > 0)
      return protocol::Failure{job.id, protocol::host_trouble, "Resource temporarily unavailable"};
    return well(job);
  };
  FleetLimits patient = limits();
  patient.first_rest = patient.longest_rest = 5ms;
  patient.most_failed_starts = 100;
  Fleets many{loop.get_executor(),
              two_slots(),
              [this](config::FleetOptions const&) { return runners.starter(); },
              patient};
  FleetRounds stubborn{store, clock, seeds, many, options, counters};
  std::vector<Build> builds{build_of('a')};
  auto const outcomes = tests::run(loop, stubborn.measure(key_of(), builds)).value();

  EXPECT_TRUE(outcomes[0].ok());
  EXPECT_THAT(runners.rounds.back().jobs.front(), HasSubstr("/0.1/")) << "it cost no attempt";
  EXPECT_THAT(runners.started, SizeIs(2)) << "the runners stay";
}

TEST_F(FleetRoundsTest, StoreNothingWhileTheHostStartsNoWorkers) {
  bool has_processes = false;
  auto const well = runners.answer;
  runners.answer = [&](protocol::Job const& job) -> protocol::Message {
    if (!has_processes && job.id.ends_with(short_of(tests::sha_of('b'))))
      return protocol::Failure{job.id, protocol::host_trouble, "Resource temporarily unavailable"};
    return well(job);
  };
  auto const lost = measure(key_of(), {build_of('a'), build_of('b')});

  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::unavailable);
  EXPECT_THAT(lost.error().message, HasSubstr("Resource temporarily unavailable"));
  EXPECT_THAT(store.jobs().of(Campaign::of(NightlyId{1})), IsEmpty());
  ASSERT_THAT(open_alarms(), SizeIs(2)) << "one a slot";
  EXPECT_EQ(open_alarms()[0].kind, AlarmKind::runner_lost);

  has_processes = true;
  std::this_thread::sleep_for(limits().longest_rest);
  auto const measured = measure(key_of(), {build_of('a'), build_of('b')}).value();
  EXPECT_TRUE(measured[0].ok());
  EXPECT_TRUE(measured[1].ok());
  EXPECT_THAT(open_alarms(), SizeIs(1)) << "of the slot that has measured nothing since";
}

TEST_F(FleetRoundsTest, RaiseAnAlarmForADeviceWithAProblem) {
  bool is_hot = true;
  auto const calm = runners.answer;
  runners.answer = [&](protocol::Job const& job) -> protocol::Message {
    if (is_hot) return protocol::Failure{job.id, "device", "the GPU was throttled meanwhile"};
    return calm(job);
  };
  options.measure.attempts = 1;
  EXPECT_FALSE(measure(key_of(), {build_of('a')}).value()[0].ok());
  ASSERT_THAT(open_alarms(), SizeIs(1));
  EXPECT_EQ(open_alarms()[0].kind, AlarmKind::environment);
  EXPECT_EQ(open_alarms()[0].subject, "local: slot 0");
  EXPECT_EQ(open_alarms()[0].detail, "the GPU was throttled meanwhile");
  is_hot = false;
  std::this_thread::sleep_for(limits().longest_rest);
  clock.time += std::chrono::hours{11};
  EXPECT_TRUE(measure(key_of(1), {build_of('a')}).value()[0].ok());
  EXPECT_THAT(open_alarms(), SizeIs(1)) << "it may come again";
  clock.time += std::chrono::hours{1};
  EXPECT_TRUE(measure(key_of(2), {build_of('a')}).value()[0].ok());
  EXPECT_THAT(open_alarms(), IsEmpty());
}

TEST_F(FleetRoundsTest, RetryOnAnotherSlotAfterAProblemOfTheDevice) {
  auto const well = runners.answer;
  runners.answer = [&, first = std::string{}](protocol::Job const& job) mutable {
    bool const is_first = std::exchange(first, job.id).empty();
    return is_first ? protocol::Failure{job.id, "device", "uncorrectable ECC error"} : well(job);
  };

  EXPECT_TRUE(measure(key_of(), {build_of('a')}).value()[0].ok());

  EXPECT_THAT(runners.started, ElementsAre(0, 1));
}

TEST_F(FleetRoundsTest, ClearTheAlarmWhenTheSlotIsBack) {
  runners.manners[0] = {Manner::ends_at_once};
  runners.manners[1] = {Manner::ends_at_once};
  auto const outcomes = measure(key_of(), {build_of('a')}).value();

  EXPECT_TRUE(outcomes[0].ok());
  EXPECT_THAT(open_alarms(), SizeIs(1)) << "of the slot that has measured nothing since";
}

TEST_F(FleetRoundsTest, ClearAlarmsOfSlotsThatAreNoLongerConfigured) {
  for (auto const& [kind, subject] : std::vector<std::pair<AlarmKind, std::string>>{
           {AlarmKind::runner_lost, "local: slot 1"},
           {AlarmKind::runner_lost, "local: slot 2"},
           {AlarmKind::environment, "local"},
           {AlarmKind::environment, "removed"},
           {AlarmKind::drift, "removed/test_eval[dlrm-cpu-eager]_latency"}})
    store.alarms().raise(kind, subject, "why", clock.now());

  store.slots().set(quarantined_slot(2));
  rounds.remove_slots_that_are_gone();
  EXPECT_THAT(store.slots().all(), IsEmpty());

  EXPECT_THAT(open_alarms(),
              ElementsAre(testing::Field(&Alarm::subject, "local: slot 1"),
                          testing::Field(&Alarm::subject, "local"),
                          testing::Field(&Alarm::kind, AlarmKind::drift)));
}

class RunnersThatDoNotGreet : public FleetRoundsTest, public testing::WithParamInterface<Manner> {};

TEST_P(RunnersThatDoNotGreet, AreLost) {
  runners.manners[0] = {GetParam()};
  EXPECT_TRUE(measure(key_of(), {build_of('a')}).value()[0].ok());
  EXPECT_THAT(runners.started, ElementsAre(0, 1));
}

INSTANTIATE_TEST_SUITE_P(All,
                         RunnersThatDoNotGreet,
                         testing::Values(Manner::ends_at_once,
                                         Manner::says_nothing,
                                         Manner::speaks_other,
                                         Manner::is_odd,
                                         Manner::hangs_in_round,
                                         Manner::talks_nonsense));

TEST_F(FleetRoundsTest, ArePatientWithARunnerWhoseHostIsBusy) {
  runners.manners[0] = {Manner::waits_for_its_host};
  EXPECT_TRUE(measure(key_of(), {build_of('a')}).value()[0].ok());
  EXPECT_THAT(runners.started, ElementsAre(0)) << "for longer than a round may last";
}

TEST_F(FleetRoundsTest, GiveUpWhenAllSlotsAreOutOfService) {
  for (auto& slot : runners.manners)
    slot.assign(1, Manner::ends_at_once);
  FleetLimits impatient = limits();
  impatient.most_failed_starts = 1;
  impatient.first_rest = impatient.longest_rest = 2s;
  Fleets few{loop.get_executor(),
             two_slots(),
             [this](config::FleetOptions const&) { return runners.starter(); },
             impatient};
  FleetRounds stopped{store, clock, seeds, few, options, counters};
  std::vector<Build> builds{build_of('a')};
  auto const lost = tests::run(loop, stopped.measure(key_of(), builds));

  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::unavailable);
  EXPECT_THAT(lost.error().message,
              HasSubstr("fleet local is out of service: runner gave no hello"));
  EXPECT_THAT(store.jobs().of(Campaign::of(NightlyId{1})), IsEmpty()) << "nothing was measured";
  EXPECT_THAT(open_alarms(), SizeIs(2));

  std::this_thread::sleep_for(2s);
  auto const again = tests::run(loop, stopped.measure(key_of(), builds));
  EXPECT_TRUE(again.value()[0].ok()) << "a slot that has rested";
  EXPECT_THAT(open_alarms(), SizeIs(1));
}

TEST_F(FleetRoundsTest, FailARoundThatEndsSeveralRunners) {
  for (auto& slot : runners.manners)
    slot.assign(9, Manner::dies_in_round);
  FleetLimits patient = limits();
  patient.most_failed_starts = 100;
  Fleets many{loop.get_executor(),
              two_slots(),
              [this](config::FleetOptions const&) { return runners.starter(); },
              patient};
  FleetRounds poisoned{store, clock, seeds, many, options, counters};
  std::vector<Build> builds{build_of('a')};
  auto const outcomes = tests::run(loop, poisoned.measure(key_of(), builds)).value();

  EXPECT_EQ(outcomes[0].error_code, JobError::lost);
  EXPECT_THAT(runners.rounds, SizeIs(5));
}

TEST_F(FleetRoundsTest, HaveNoFleetOfAnotherName) {
  auto key = key_of();
  key.fleet = "gpu";
  EXPECT_EQ(measure(key, {build_of('a')}).error().message, "no fleet is named gpu");
}

TEST_F(FleetRoundsTest, ServeTheFirstCallerFirst) {
  std::vector<int> order;
  auto one = [&](int number) -> boost::asio::awaitable<int> {
    auto key = key_of(number);
    std::vector<Build> builds{build_of('a')};
    auto const done = co_await rounds.measure(std::move(key), std::move(builds));
    order.push_back(done ? number : -1);
    co_return 0;
  };
  auto all = [&]() -> boost::asio::awaitable<int> {
    std::vector<boost::asio::awaitable<int>> tasks;
    for (int i = 0; i < 6; ++i)
      tasks.push_back(one(i));
    co_await async::when_all(std::move(tasks));
    co_return 0;
  };
  tests::run(loop, all());

  EXPECT_THAT(order, SizeIs(6));
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_THAT(runners.started, SizeIs(2));
}

TEST_F(FleetRoundsTest, CompareTwoBuildsUntilItIsDecided) {
  BuildPair const pair{Campaign::of(NightlyId{2}), build_of('a'), build_of('b', "/slow")};
  auto const latency = tests::latency_of("dlrm");
  std::vector<Series> const series{latency};
  auto const result =
      tests::run(loop, compare_builds(rounds, pair, series, {}, config::DecideOptions{})).value();

  EXPECT_EQ(result.changes.at(0).comparison.verdict, Verdict::regression);
  EXPECT_GE(result.changes.at(0).comparison.pairs, 4);
  EXPECT_THAT(result.failure, IsEmpty());
}

TEST_F(FleetRoundsTest, CompareEachSeriesWithItsOwnBaselineInOneRound) {
  auto const latency = tests::latency_of("dlrm");
  auto memory = latency;
  memory.metric = Metric::cmem;
  BuildPair const builds{Campaign::of(NightlyId{2}),
                         build_of('a'),
                         build_of('b', "/slow"),
                         {{latency, build_of('c', "/slow")}}};
  std::vector<Series> const series{latency, memory};
  auto const measured = builds_for(series, builds);
  ASSERT_THAT(measured, SizeIs(3));
  EXPECT_EQ(measured[0].manifest.commit, build_of('c').manifest.commit);
  EXPECT_EQ(measured[1].manifest.commit, build_of('a').manifest.commit);
  EXPECT_EQ(measured[2].manifest.commit, build_of('b').manifest.commit);

  std::vector<Series> const only_latency{latency};
  auto const result =
      tests::run(loop, compare_builds(rounds, builds, only_latency, {}, config::DecideOptions{}))
          .value();
  EXPECT_EQ(result.changes.at(0).comparison.verdict, Verdict::unchanged) << "both are slow";
}

TEST_F(FleetRoundsTest, DecideThoughAProcessFails) {
  auto const usual = runners.answer;
  int jobs = 0;
  runners.answer = [&](protocol::Job const& job) -> protocol::Message {
    if (++jobs == 4) return protocol::Failure{job.id, "timeout", "no answer after 1 s"};
    return usual(job);
  };
  BuildPair const pair{Campaign::of(NightlyId{2}), build_of('a'), build_of('b')};
  std::vector<Series> const series{tests::latency_of("dlrm")};
  auto const result =
      tests::run(loop, compare_builds(rounds, pair, series, {}, config::DecideOptions{})).value();

  EXPECT_NE(result.changes.at(0).comparison.verdict, Verdict::inconclusive);
  EXPECT_THAT(result.failure, IsEmpty());
}

TEST_F(FleetRoundsTest, LeaveUndecidedWhatCannotBeMeasured) {
  runners.answer = [](protocol::Job const& job) -> protocol::Message {
    return protocol::Failure{job.id, "timeout", "no answer after 1 s"};
  };
  BuildPair const pair{Campaign::of(NightlyId{2}), build_of('a'), build_of('b')};
  std::vector<Series> const series{tests::latency_of("dlrm")};
  auto const result =
      tests::run(loop, compare_builds(rounds, pair, series, {}, config::DecideOptions{})).value();

  EXPECT_EQ(result.changes.at(0).comparison.verdict, Verdict::inconclusive);
  EXPECT_FALSE(result.changes.at(0).comparison.ratio);
  EXPECT_EQ(result.failure, "timeout, no answer after 1 s");
}

}  // namespace
}  // namespace torchwatch::measure
