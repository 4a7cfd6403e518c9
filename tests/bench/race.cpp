/// Measures the time from an announced nightly to an answer, for two contestants: `torchwatch
/// check` and `git bisect run` (tests/bench/bisect-by-hand). They run one after the other on the
/// same histories of the lab. Commits are really compiled, and models really measured.
///
/// Equal for both: no builds and no measurements exist before. Each makes its own builds, with one
/// recipe and one set of precompiled headers, which exists before the clock starts. They measure
/// with one worker, scale and sandbox. Each goes first on every second seed.
///
/// In favor of `git bisect run`: its clock starts with the script, which is given the benchmark and
/// both commits. It neither compares the nightlies nor proves its answer. torchwatch's time
/// includes all of that. It also builds and measures the first nightly, which in practice was done
/// the day before. It watches all benchmarks of the scenario, and proves the commit against its
/// parent in two layouts. It decides with the default options, not with those of the lab.
///
/// Columns: minutes to the answer, minutes until torchwatch reported a slower benchmark (alarm),
/// builds, measured processes, the answer, and, computed from these, hours if a build took one.
///
/// The seed determines the history and, if all commits build, the position of the slower commit.
/// Exits with 1 when a claim about torchwatch is broken.

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

/// The scenarios with at most one commit to find, which changes latency.
std::vector<std::string> const known_scenarios{
    "one-culprit", "no-change", "ten-percent", "broken-span"};

/// The duration of a build of PyTorch, in round numbers.
constexpr double hours_a_build = 1;

struct Options {
  std::uint64_t seed = 1;
  int seeds = 20;
  std::vector<std::string> scenarios{"one-culprit", "no-change"};
  double threshold = ByHand{}.threshold;
};

/// All attempts at a scenario, one per seed.
struct Race {
  std::string scenario;
  std::vector<Attempt> service;
  std::vector<Attempt> by_hand;
};

constexpr std::array contestants{"torchwatch check", "git bisect run, median of 5"};

constexpr auto attempt_row = "{:<12} {:>5}  {:<28} {:>8} {:>7} {:>7} {:>10}  {}\n";
constexpr auto total_row = "{:<28} {:>8} {:>7} {:>7} {:>7} {:>7} {:>10} {:>14}  {}\n";

double minutes(Attempt const& attempt) {
  return attempt.seconds / 60;
}

double builds(Attempt const& attempt) {
  return attempt.builds;
}

double processes(Attempt const& attempt) {
  return attempt.processes;
}

/// The hours of an attempt if each build took an hour and all else as long as it did.
double hours_with_long_builds(Attempt const& attempt) {
  return (attempt.seconds - attempt.build_seconds) / 3600 + hours_a_build * attempt.builds;
}

std::vector<double> values_of(std::vector<Attempt> const& attempts,
                              double (*value)(Attempt const&)) {
  std::vector<double> values;
  for (auto const& attempt : attempts)
    values.push_back(value(attempt));
  return values;
}

double median_of(std::vector<Attempt> const& attempts, double (*value)(Attempt const&)) {
  return bisect::median(values_of(attempts, value));
}

/// The median minutes of attempts that raised an alarm; "-" if none did.
std::string alarm_minutes(std::vector<Attempt> const& attempts) {
  std::vector<double> values;
  for (auto const& attempt : attempts)
    if (attempt.alarm_seconds) values.push_back(*attempt.alarm_seconds / 60);
  return values.empty() ? "-" : fmt::format("{:.2f}", bisect::median(values));
}

int count(std::vector<Attempt> const& attempts, Grade grade) {
  return static_cast<int>(std::ranges::count(attempts, grade, &Attempt::grade));
}

double share(std::vector<Attempt> const& attempts, Grade grade) {
  return count(attempts, grade) / static_cast<double>(attempts.size());
}

/// A patch of the scenario that moves the slower commit. Empty if some commits do not build, or
/// none is slower.
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
  // The default options of users; the lab's options are for fast tests.
  options.settings = {{"decide", nullptr}};
  return options;
}

void print_attempt(std::string const& scenario,
                   std::uint64_t seed,
                   char const* contestant,
                   Attempt const& attempt) {
  fmt::print(attempt_row,
             scenario,
             seed,
             contestant,
             fmt::format("{:.2f}", minutes(attempt)),
             alarm_minutes({attempt}),
             attempt.builds,
             attempt.processes,
             to_string(attempt.grade));
  std::fflush(stdout);
}

void run_seed(Race& race, std::uint64_t seed, Options const& options) {
  e2e::World world{world_of(race.scenario, seed)};
  ByHand const by_hand{suspected_benchmark(world), options.threshold};
  auto const race_service = [&] {
    race.service.push_back(run_service(world));
    print_attempt(race.scenario, seed, contestants.front(), race.service.back());
  };
  auto const race_by_hand = [&] {
    race.by_hand.push_back(run_by_hand(world, by_hand));
    print_attempt(race.scenario, seed, contestants.back(), race.by_hand.back());
  };
  bool const service_first = seed % 2 == 1;
  if (service_first) race_service();
  race_by_hand();
  if (!service_first) race_service();
}

/// Fills the caches that all builds share, before the clock starts.
void prepare(Options const& options) {
  e2e::World world{world_of(options.scenarios.front(), options.seed)};
  warm_up(world, suspected_benchmark(world));
}

std::vector<Race> run_all(Options const& options) {
  prepare(options);
  fmt::print(
      attempt_row, "scenario", "seed", "", "minutes", "alarm", "builds", "processes", "answer");
  std::vector<Race> races;
  for (auto const& scenario : options.scenarios) {
    auto& race = races.emplace_back(Race{scenario, {}, {}});
    for (int i = 0; i < options.seeds; ++i)
      run_seed(race, options.seed + static_cast<std::uint64_t>(i), options);
  }
  return races;
}

std::string answers(std::vector<Attempt> const& attempts) {
  return fmt::format("{} right, {} range, {} wrong, {} none",
                     count(attempts, Grade::right),
                     count(attempts, Grade::range),
                     count(attempts, Grade::wrong),
                     count(attempts, Grade::none));
}

void print_total(char const* contestant, std::vector<Attempt> const& attempts) {
  auto const times = values_of(attempts, minutes);
  fmt::print(total_row,
             contestant,
             fmt::format("{:.2f}", median_of(attempts, minutes)),
             fmt::format("{:.2f}", std::ranges::min(times)),
             fmt::format("{:.2f}", std::ranges::max(times)),
             alarm_minutes(attempts),
             fmt::format("{:.1f}", median_of(attempts, builds)),
             fmt::format("{:.1f}", median_of(attempts, processes)),
             fmt::format("{:.1f}", median_of(attempts, hours_with_long_builds)),
             answers(attempts));
}

void print_ratios(Race const& race) {
  auto const ratio = [&race](double (*value)(Attempt const&)) {
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

/// A change of ten percent is too close to the threshold to promise its answer.
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
  CLI::App app{
      "Measures the time until torchwatch and `git bisect run` name a commit, on the same "
      "histories"};
  app.add_option("--seed", options.seed, "First seed")->capture_default_str();
  app.add_option("--seeds", options.seeds, "Number of seeds for each scenario")
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
