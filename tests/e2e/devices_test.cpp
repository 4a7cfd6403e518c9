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

// Two GPUs of one host, and its processors: who measures where, and when.
namespace torchwatch::e2e {
namespace {

/// A runner whose workers say when they worked, and who locks in the world's own directory.
nlohmann::json launcher_in(World const& world) {
  return {"sh",
          "-c",
          "SCRIPTED_WORKER_TIMES=1 exec \"$@\" --locks " + world.directory().string(),
          "sh"};
}

/// Four benchmarks on each kind of device.
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

/// The times at which somebody worked, those of a round together.
struct Span {
  double began_at = 0;
  double ended_at = 0;
};

/// Workers of a round work in each other's sight; `spans` in the order in which they began.
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

/// What workers of two fleets on one host tell of when they worked.
struct Work {
  std::map<std::string, std::map<int, std::vector<Span>>> of_gpus;  // by campaign: rounds of each
  std::vector<Span> of_cpus;
};

/// The first campaign is of one build, the others are of two.
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

/// Two nights on two GPUs and the processors of one host.
Work two_nights(double seconds_a_job) {
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

TEST(Devices, AreNeverMeasuredOnTwiceNorBesideProcessors) {
  auto const work = two_nights(0.2);
  EXPECT_GE(work.of_gpus.size(), 2U);
  EXPECT_FALSE(work.of_cpus.empty());
  for (auto const& [campaign, gpus] : work.of_gpus) {
    EXPECT_EQ(gpus.size(), 2U) << campaign;
    for (auto const& [gpu, rounds] : gpus) {
      EXPECT_FALSE(overlap(rounds)) << campaign << ": two rounds on GPU " << gpu;
      EXPECT_FALSE(overlap(rounds, work.of_cpus)) << campaign << ": beside processors";
    }
  }
}

constexpr auto on_broken_memory = "test_eval[dcgan-cuda-eager]";
constexpr auto too_large = "test_train[dcgan-cuda-eager]";

/// Two nights on a GPU whose memory one benchmark finds broken, and has no room for two workers of
/// the other.
WorldOptions poor_gpu() {
  WorldOptions options;
  options.scenario = "no-change";
  options.history = {{"suite", {{"models", {"dcgan"}}}}};
  options.script["benchmarks"][on_broken_memory] = {{"behave", "ecc"}};
  options.script["benchmarks"][too_large] = {{"behave", "no_room"}};
  options.settings = {{"measure", {{"attempts", 2}}}};
  return options;
}

TEST(Devices, ThatFailSpoilNothing) {
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
      << "one by one";
  for (auto const& [version, benchmarks] : measured_by_version(world.state()))
    EXPECT_EQ(benchmarks, std::set<std::string>{too_large});
}

TEST(Devices, OfAHostThatHasNoneAreAnErrorBeforeAnythingIsDone) {
  World world{poor_gpu()};
  world.configure({{"fleets", {{{"name", "gpus"}, {"device", "cuda"}, {"devices", {"all"}}}}}});
  auto const check = world.run({"check"});
  EXPECT_EQ(check.status, 2);
  EXPECT_THAT(check.err, testing::HasSubstr("fleet gpus wants all GPUs of this host: NVML"));
  EXPECT_FALSE(std::filesystem::exists(world.state()));
}

// Between rounds, processes start and end: a twentieth of a round of two seconds, if nobody else is
// at work.
TEST(BusyDevices, WaitForNobody) {
  for (auto const& [campaign, gpus] : two_nights(2).of_gpus)
    for (auto const& [gpu, rounds] : gpus)
      EXPECT_GE(busy_share(rounds), 0.95) << campaign << ": GPU " << gpu;
}

}  // namespace
}  // namespace torchwatch::e2e
