#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/e2e/expect.h"
#include "tests/e2e/stored.h"

// Two GPUs of one host, and its processors: who measures where, and when.
namespace torchwatch::e2e {
namespace {

constexpr double seconds_a_job = 1;

/// A runner whose workers say when they worked, and who locks in the world's own directory.
nlohmann::json launcher_in(World const& world) {
  return {"sh",
          "-c",
          "SCRIPTED_WORKER_TIMES=1 exec \"$@\" --locks " + world.directory().string(),
          "sh"};
}

/// Four benchmarks on each kind of device.
WorldOptions two_fleets() {
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

TEST(Devices, AreBusyAloneAndNeverBesideProcessors) {
  World world{two_fleets()};
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
  ASSERT_EQ(check.status, 0) << check.err;

  // The first sweep is of one build; the last, of two.
  auto const spans = worked_spans(world.state());
  std::map<std::string, std::map<int, std::vector<Span>>> of_gpus;
  std::vector<Span> of_cpus;
  for (auto const& span : spans) {
    if (span.gpu < 0)
      of_cpus.push_back({span.began_at, span.ended_at});
    else
      of_gpus[span.campaign][span.gpu].push_back({span.began_at, span.ended_at});
  }
  ASSERT_FALSE(of_cpus.empty());
  for (auto const& [campaign, gpus] : of_gpus) {
    ASSERT_EQ(gpus.size(), 2U) << campaign;
    for (auto const& [gpu, all] : gpus) {
      auto const rounds = rounds_of(all, campaign == spans.front().campaign ? 1 : 2);
      EXPECT_FALSE(overlap(rounds)) << campaign << ": two jobs on GPU " << gpu;
      EXPECT_GE(busy_share(rounds), 0.95) << campaign << ": GPU " << gpu;
      for (auto const& round : rounds)
        for (auto const& cpu : of_cpus)
          EXPECT_FALSE(cpu.began_at < round.ended_at && round.began_at < cpu.ended_at)
              << campaign << ": at once";
    }
  }
}

}  // namespace
}  // namespace torchwatch::e2e
