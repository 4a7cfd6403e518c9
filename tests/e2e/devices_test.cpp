#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/expect.h"
#include "tests/e2e/stored.h"

// Rounds on two GPUs of one host and on its CPUs: where and when they are measured.
namespace torchwatch::e2e {
namespace {

/// Returns the launcher of a runner whose workers report the times of their work. It keeps its
/// device locks in the world's directory.
nlohmann::json launcher_in(World const& world) {
  return {"sh",
          "-c",
          "SCRIPTED_WORKER_TIMES=1 exec \"$@\" --locks " + world.directory().string(),
          "sh"};
}

/// Returns the options of a world with four benchmarks on each kind of device.
WorldOptions two_fleets(double seconds_a_job) {
  WorldOptions options;
  options.scenario = "no-change";
  for (auto const* const device : {"cpu", "cuda"})
    for (auto const* const test : {"test_train[dcgan-",
                                   "test_eval[dcgan-",
                                   "test_train[lennard_jones-",
                                   "test_eval[lennard_jones-"})
      options.script["benchmarks"][std::string{test} + device + "-eager]"] = {
          {"seconds", seconds_a_job}, {"noise", 0.0002}};
  return options;
}

/// The time in which a worker, or the workers of a round, measured.
struct Span {
  double began_at = 0;
  double ended_at = 0;
};

/// Joins the spans of each round of `workers` workers. `spans`: in the order in which they began.
std::vector<Span> rounds_of(std::vector<Span> const& spans, std::size_t workers) {
  std::vector<Span> rounds;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i % workers == 0) rounds.push_back(spans[i]);
    rounds.back().ended_at = std::max(rounds.back().ended_at, spans[i].ended_at);
  }
  return rounds;
}

double busy_share(std::vector<Span> const& rounds) {
  double busy = 0;
  for (auto const& [began_at, ended_at] : rounds)
    busy += ended_at - began_at;
  return busy / (rounds.back().ended_at - rounds.front().began_at);
}

bool overlap(std::vector<Span> const& rounds) {
  return std::ranges::adjacent_find(rounds, [](Span const& one, Span const& next) {
           return next.began_at < one.ended_at;
         }) != rounds.end();
}

bool overlap(std::vector<Span> const& some, std::vector<Span> const& others) {
  return std::ranges::any_of(some, [&others](Span const& one) {
    return std::ranges::any_of(others, [&one](Span const& other) {
      return other.began_at < one.ended_at && one.began_at < other.ended_at;
    });
  });
}

/// The times at which the workers of two fleets on one host measured.
struct Work {
  std::map<std::string, std::map<int, std::vector<Span>>> of_gpus;  // rounds, by campaign and GPU
  std::vector<Span> of_cpus;
};

/// Sorts the spans by device. The first campaign measures one build, the others measure two.
Work work_of(std::vector<WorkedSpan> const& spans) {
  Work work;
  for (auto const& span : spans) {
    auto& all = span.gpu < 0 ? work.of_cpus : work.of_gpus[span.campaign][span.gpu];
    all.push_back({span.began_at, span.ended_at});
  }
  for (auto& [campaign, gpus] : work.of_gpus)
    for (auto& [gpu, all] : gpus)
      all = rounds_of(all, campaign == spans.front().campaign ? 1 : 2);
  return work;
}

/// Measures two nightlies on two GPUs and the CPUs of one host.
Work measure_two_nightlies(double seconds_a_job) {
  World world{two_fleets(seconds_a_job)};
  auto const launcher = launcher_in(world);
  world.configure(
      {{"fleets",
        {{{"name", "gpus"},
          {"device", "cuda"},
          {"slots", 2},
          {"devices", {"0", "1"}},
          {"launcher", launcher},
          {"environment", {"SCRIPTED_WORKER_*"}}},
         {{"name", "cpus"}, {"launcher", launcher}, {"environment", {"SCRIPTED_WORKER_*"}}}}}});
  auto const check = world.run({"check", "--json"});
  EXPECT_EQ(check.status, 0) << check.err;
  return work_of(worked_spans(world.state()));
}

TEST(Devices, MeasureOneRoundAtATimeAndNeverTogetherWithTheCpus) {
  auto const work = measure_two_nightlies(0.2);
  EXPECT_GE(work.of_gpus.size(), 2U);
  EXPECT_FALSE(work.of_cpus.empty());
  for (auto const& [campaign, gpus] : work.of_gpus) {
    EXPECT_EQ(gpus.size(), 2U) << campaign;
    for (auto const& [gpu, rounds] : gpus) {
      EXPECT_FALSE(overlap(rounds)) << campaign << ": two rounds on GPU " << gpu;
      EXPECT_FALSE(overlap(rounds, work.of_cpus)) << campaign << ": together with the CPUs";
    }
  }
}

constexpr auto on_broken_memory = "test_eval[dcgan-cuda-eager]";
constexpr auto too_large = "test_train[dcgan-cuda-eager]";

/// Returns the options of a world with two nightlies on a bad GPU: one benchmark reports its memory
/// as broken, and two workers of the other benchmark need more memory than it has.
WorldOptions poor_gpu() {
  WorldOptions options;
  options.scenario = "no-change";
  options.history = {{"suite", {{"models", {"dcgan"}}}}};
  options.script["benchmarks"][on_broken_memory] = {{"behave", "ecc"}};
  options.script["benchmarks"][too_large] = {{"behave", "no_room"}};
  options.settings = {{"measure", {{"attempts", 2}}}};
  return options;
}

TEST(Devices, ThatFailRaiseAnAlarmAndDiscardOnlyTheirJobs) {
  World world{poor_gpu()};
  world.configure({{"fleets", {{{"name", "gpus"}, {"device", "cuda"}}}}});

  auto const check = world.run({"check"});

  EXPECT_EQ(check.status, 0) << check.out << check.err;
  using testing::HasSubstr;
  EXPECT_THAT(check.err, HasSubstr("code=device "));
  EXPECT_THAT(check.err, HasSubstr("uncorrectable ECC error encountered"));
  EXPECT_THAT(check.err, HasSubstr("code=device_memory"));
  EXPECT_THAT(check.err, HasSubstr("alarm_raised kind=environment subject=\"gpus: slot 0\""));
  EXPECT_THAT(check.err,
              HasSubstr("measured campaign=nightly/2 benchmark=" + std::string{too_large}))
      << "its workers run one by one";
  for (auto const& [version, benchmarks] : measured_by_version(world.state()))
    EXPECT_EQ(benchmarks, std::set<std::string>{too_large});
}

TEST(Devices, OfAHostWithoutGpusAreAnErrorAndNoStateIsCreated) {
  World world{poor_gpu()};
  world.configure({{"fleets", {{{"name", "gpus"}, {"device", "cuda"}, {"devices", {"all"}}}}}});
  auto const check = world.run({"check"});
  EXPECT_EQ(check.status, 2);
  EXPECT_THAT(check.err, testing::HasSubstr("fleet gpus wants all GPUs of this host: NVML"));
  EXPECT_FALSE(std::filesystem::exists(world.state()));
}

// Between rounds, processes start and end. On an idle host, this takes up to a twentieth of a round
// of two seconds.
TEST(BusyDevices, MeasureForAtLeast95PercentOfTheTime) {
  for (auto const& [campaign, gpus] : measure_two_nightlies(2).of_gpus)
    for (auto const& [gpu, rounds] : gpus)
      EXPECT_GE(busy_share(rounds), 0.95) << campaign << ": GPU " << gpu;
}

}  // namespace
}  // namespace torchwatch::e2e
