/// How long it takes from an announced nightly to an answer, compared with the same work by hand:
/// `torchwatch check` and `git bisect run` (tests/bench/bisect-by-hand) one after the other, never
/// at once, on the same histories of the lab. Everything is real: commits are compiled, models
/// measured.
///
/// Fair to both: both begin with nothing built and nothing measured. Each builds for itself, with
/// one recipe and one set of precompiled headers, which is filled before the clock starts. They
/// measure with the same worker, scale and sandbox, and take turns at going first.
///
/// In favor of `git bisect run`: its clock starts with the script, which is given the benchmark and
/// both commits, and it neither compares the nightlies nor proves what it names. torchwatch's time
/// includes all of that: it builds and measures the first nightly too, which in practice was done
/// the day before, watches every benchmark of the scenario, and proves the commit against its
/// parent in two layouts. It decides with the default options, not with those of the lab.
///
/// Columns: minutes to the answer, minutes until torchwatch reported a slower benchmark (alarm),
/// builds, measured processes, the answer, and, computed from these, hours if a build took one.
///
/// The seed draws the history and, where commits all build, the position of the commit that is
/// slower. Exits with 1 when a claim about torchwatch is broken.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "claims.h"
#include "contestants.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bisect/compare/statistics.h"

namespace torchwatch::bench {
namespace {

using nlohmann::json;

/// Those with at most one commit to find, by its latency.
std::vector<std::string> const known_scenarios{
    "one-culprit", "no-change", "ten-percent", "broken-span"};

/// What a build of PyTorch takes, in round numbers.
constexpr double hours_a_build = 1;

struct Options {
  std::uint64_t seed = 1;
  int seeds = 20;
  std::vector<std::string> scenarios{"one-culprit", "no-change"};
  double threshold = ByHand{}.threshold;
};

/// All laps of a scenario, by seed.
struct Race {
  std::string scenario;
  std::vector<Lap> service;
  std::vector<Lap> by_hand;
};

constexpr std::array contestants{"torchwatch check", "git bisect run, median of 5"};

constexpr auto lap_row = "{:<12} {:>5}  {:<28} {:>8} {:>7} {:>7} {:>10}  {}\n";
constexpr auto total_row = "{:<28} {:>8} {:>7} {:>7} {:>7} {:>7} {:>10} {:>14}  {}\n";

double minutes(Lap const& lap) {
  return lap.seconds / 60;
}

double builds(Lap const& lap) {
  return lap.builds;
}

double processes(Lap const& lap) {
  return lap.processes;
}

/// The time if each build took an hour and all else what it took.
double hours_with_long_builds(Lap const& lap) {
  return (lap.seconds - lap.build_seconds) / 3600 + hours_a_build * lap.builds;
}

std::vector<double> values_of(std::vector<Lap> const& laps, double (*value)(Lap const&)) {
  std::vector<double> values;
  for (auto const& lap : laps)
    values.push_back(value(lap));
  return values;
}

double median_of(std::vector<Lap> const& laps, double (*value)(Lap const&)) {
  return bisect::median(values_of(laps, value));
}

/// The median of those that raised one, "-" if none did.
std::string alarm_minutes(std::vector<Lap> const& laps) {
  std::vector<double> values;
  for (auto const& lap : laps)
    if (lap.alarm_seconds) values.push_back(*lap.alarm_seconds / 60);
  return values.empty() ? "-" : fmt::format("{:.2f}", bisect::median(values));
}

int count(std::vector<Lap> const& laps, Grade grade) {
  return static_cast<int>(std::ranges::count(laps, grade, &Lap::grade));
}

double share(std::vector<Lap> const& laps, Grade grade) {
  return count(laps, grade) / static_cast<double>(laps.size());
}

/// A patch of the scenario: where the commit lands that is slower. As it is where some do not
/// build.
json drawn_history(std::string const& name, std::uint64_t seed) {
  auto const file = std::filesystem::path{LAB_SCENARIOS} / (name + ".json");
  auto const scenario = json::parse(e2e::text_of(file));
  auto culprits = scenario.at("culprits");
  if (scenario.contains("broken") || culprits.empty()) return json::object();
  constexpr std::uint64_t commits = 34;  // the lab's default
  std::mt19937_64 random{seed};
  culprits.at(0)["at"] = 1 + random() % scenario.value("commits", commits);
  return {{"culprits", culprits}};
}

e2e::WorldOptions world_of(std::string const& scenario, std::uint64_t seed) {
  e2e::WorldOptions options;
  options.scenario = scenario;
  options.real = true;
  options.seed = seed;
  options.history = drawn_history(scenario, seed);
  // As users have it; the lab's own options are for tests that must be quick.
  options.settings = {{"decide", nullptr}};
  return options;
}

void print_lap(std::string const& scenario,
               std::uint64_t seed,
               char const* contestant,
               Lap const& lap) {
  fmt::print(lap_row,
             scenario,
             seed,
             contestant,
             fmt::format("{:.2f}", minutes(lap)),
             alarm_minutes({lap}),
             lap.builds,
             lap.processes,
             to_string(lap.grade));
  std::fflush(stdout);
}

void run_seed(Race& race, std::uint64_t seed, Options const& options) {
  e2e::World world{world_of(race.scenario, seed)};
  ByHand const by_hand{suspected_benchmark(world), options.threshold};
  auto const race_service = [&] {
    race.service.push_back(run_service(world));
    print_lap(race.scenario, seed, contestants.front(), race.service.back());
  };
  auto const race_by_hand = [&] {
    race.by_hand.push_back(run_by_hand(world, by_hand));
    print_lap(race.scenario, seed, contestants.back(), race.by_hand.back());
  };
  bool const service_first = seed % 2 == 1;
  if (service_first) race_service();
  race_by_hand();
  if (!service_first) race_service();
}

/// Fills the caches that all builds share.
void prepare(Options const& options) {
  e2e::World world{world_of(options.scenarios.front(), options.seed)};
  warm_up(world, suspected_benchmark(world));
}

std::vector<Race> run_all(Options const& options) {
  prepare(options);
  fmt::print(lap_row, "scenario", "seed", "", "minutes", "alarm", "builds", "processes", "answer");
  std::vector<Race> races;
  for (auto const& scenario : options.scenarios) {
    auto& race = races.emplace_back(Race{scenario, {}, {}});
    for (int i = 0; i < options.seeds; ++i)
      run_seed(race, options.seed + static_cast<std::uint64_t>(i), options);
  }
  return races;
}

std::string answers(std::vector<Lap> const& laps) {
  return fmt::format("{} right, {} range, {} wrong, {} none",
                     count(laps, Grade::right),
                     count(laps, Grade::range),
                     count(laps, Grade::wrong),
                     count(laps, Grade::none));
}

void print_total(char const* contestant, std::vector<Lap> const& laps) {
  auto const times = values_of(laps, minutes);
  fmt::print(total_row,
             contestant,
             fmt::format("{:.2f}", median_of(laps, minutes)),
             fmt::format("{:.2f}", std::ranges::min(times)),
             fmt::format("{:.2f}", std::ranges::max(times)),
             alarm_minutes(laps),
             fmt::format("{:.1f}", median_of(laps, builds)),
             fmt::format("{:.1f}", median_of(laps, processes)),
             fmt::format("{:.1f}", median_of(laps, hours_with_long_builds)),
             answers(laps));
}

void print_ratios(Race const& race) {
  auto const ratio = [&race](double (*value)(Lap const&)) {
    return fmt::format("{:.2f}", median_of(race.service, value) / median_of(race.by_hand, value));
  };
  fmt::print(total_row,
             "torchwatch to git",
             ratio(minutes),
             "",
             "",
             "",
             ratio(builds),
             ratio(processes),
             ratio(hours_with_long_builds),
             "");
}

void print_totals(Race const& race) {
  fmt::print(
      "\n{}, {} seeds: medians, from nothing built; builds by one recipe with warm headers\n",
      race.scenario,
      race.service.size());
  fmt::print(total_row,
             "",
             "minutes",
             "least",
             "most",
             "alarm",
             "builds",
             "processes",
             "h at 1 h/build",
             "answers");
  print_total(contestants.front(), race.service);
  print_total(contestants.back(), race.by_hand);
  print_ratios(race);
}

/// A change of ten percent is too near the threshold for a promise of its answer.
std::vector<Claim> claims_about(std::vector<Race> const& races) {
  std::vector<Claim> all;
  for (auto const& [scenario, service, by_hand] : races) {
    all.push_back({"wrong: torchwatch, " + scenario, share(service, Grade::wrong), 0, false});
    if (scenario != "ten-percent")
      all.push_back({"right: torchwatch, " + scenario, share(service, Grade::right), 0.9, true});
  }
  return all;
}

bool race(Options const& options) {
  auto const races = run_all(options);
  for (auto const& each : races)
    print_totals(each);
  return print_claims(claims_about(races));
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  torchwatch::bench::Options options;
  CLI::App app{"How soon torchwatch and `git bisect run` name a commit, on the same histories"};
  app.add_option("--seed", options.seed, "First seed")->capture_default_str();
  app.add_option("--seeds", options.seeds, "How many seeds a scenario")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--scenario", options.scenarios, "Scenarios of tests/lab")
      ->check(CLI::IsMember(torchwatch::bench::known_scenarios))
      ->capture_default_str();
  app.add_option("--threshold",
                 options.threshold,
                 "By hand, a commit is bad when it is slower than the good end by more than this")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return torchwatch::bench::race(options) ? 0 : 1;
  } catch (std::exception const& problem) {
    std::cerr << "race: " << problem.what() << '\n';
    return 2;
  }
}
