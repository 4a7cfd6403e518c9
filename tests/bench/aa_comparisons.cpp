/// Compares a build with itself many times, with the real worker on this host. Prints how often the
/// verdict is a change, and the cost. Can record the pairs as noise for compare_power. SIGINT ends
/// it early, with the table of the finished comparisons.

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "daemon/async/run_until_signal.h"
#include "daemon/builds/manifest.h"
#include "daemon/measure/comparison.h"
#include "daemon/measure/fleet_rounds.h"
#include "daemon/measure/runner_process.h"
#include "storage/store.h"

namespace torchwatch::bench {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> models{"dcgan", "lennard_jones", "soft_actor_critic", "tts_angular"};
  int comparisons = 300;
  bool pin = true;
  std::string record;
};

/// A temporary directory, removed with its contents by the destructor.
class Directory {
 public:
  Directory() : path_{(fs::temp_directory_path() / "torchwatch-aa-XXXXXX").string()} {
    if (::mkdtemp(path_.data()) == nullptr)
      throw std::runtime_error(path_ + ": the directory cannot be created");
  }

  Directory(Directory const&) = delete;
  Directory& operator=(Directory const&) = delete;

  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  fs::path path() const { return path_; }

 private:
  std::string path_;
};

/// Makes a build of the system's PyTorch, under a fictional commit of 40 times `digit`.
Build system_build(fs::path const& prefix, char digit) {
  fs::create_directories(prefix);
  std::ofstream{prefix / "build.json"} << nlohmann::json{{"commit", std::string(40, digit)}};
  return builds::read_build(prefix.string()).value();
}

struct Tally {
  std::map<Verdict, int> verdicts;
  int comparisons = 0;
  int pairs = 0;
  std::vector<bisect::Pair> measured;
};

using Tallies = std::map<std::string, Tally>;

asio::awaitable<int> compare_all(measure::Rounds& rounds,
                                 Options const& options,
                                 std::array<Build, 2> const& builds,
                                 Tallies& tallies) {
  config::DecideOptions const decide;
  measure::Past const unknown;
  for (int number = 0; number < options.comparisons; ++number) {
    auto const count = options.models.size();
    auto const turn = static_cast<std::size_t>(number);
    auto const test = turn / count % 2 == 0 ? Test::eval : Test::train;
    Benchmark const benchmark{options.models[turn % count], test, Device::cpu, "eager"};
    measure::BuildPair const pair{{"aa/" + std::to_string(number)}, builds[0], builds[1]};
    std::vector<Series> const series{{config::FleetOptions{}.name, benchmark, Metric::latency}};
    auto const compared = co_await measure::compare_builds(rounds, pair, series, unknown, decide);
    if (!compared) throw std::runtime_error(compared.error().message);
    auto const& result = *compared;
    auto const& comparison = result.changes.front().comparison;
    auto& tally = tallies[name_of(benchmark)];
    ++tally.verdicts[comparison.verdict];
    ++tally.comparisons;
    tally.pairs += comparison.pairs;
    auto const& pairs = result.pairs.front();
    tally.measured.insert(tally.measured.end(), pairs.begin(), pairs.end());
    fmt::print(stderr,
               "{}/{} {} {} after {} pairs\n",
               number + 1,
               options.comparisons,
               name_of(benchmark),
               to_string(comparison.verdict),
               comparison.pairs);
  }
  co_return 0;
}

/// Standard deviation of the log ratios of pairs, and a robust estimate of it.
double noise_of(std::vector<bisect::Pair> const& pairs) {
  double sum = 0;
  for (auto const& [before, after] : pairs)
    sum += std::pow(std::log(after / before), 2);
  return std::sqrt(sum / static_cast<double>(pairs.size()));
}

/// Prints the table. Returns true when all verdicts are unchanged.
bool print_table(Tallies const& tallies) {
  bool is_clean = true;
  fmt::print("{:<40} {:>11} {:>10} {:>11} {:>9} {:>12} {:>6} {:>9}\n",
             "benchmark",
             "comparisons",
             "regression",
             "improvement",
             "unchanged",
             "inconclusive",
             "pairs",
             "noise");
  for (auto const& [name, tally] : tallies) {
    auto const count = [&verdicts = tally.verdicts](Verdict verdict) {
      auto const found = verdicts.find(verdict);
      return found == verdicts.end() ? 0 : found->second;
    };
    is_clean = is_clean && count(Verdict::unchanged) == tally.comparisons;
    fmt::print("{:<40} {:>11} {:>10} {:>11} {:>9} {:>12} {:>6.1f} {:>8.2f}%\n",
               name,
               tally.comparisons,
               count(Verdict::regression),
               count(Verdict::improvement),
               count(Verdict::unchanged),
               count(Verdict::inconclusive),
               static_cast<double>(tally.pairs) / tally.comparisons,
               100 * noise_of(tally.measured));
  }
  return is_clean;
}

void write_pairs(Tallies const& tallies, std::string const& file) {
  auto list = nlohmann::ordered_json::array();
  for (auto const& [name, tally] : tallies) {
    nlohmann::ordered_json entry{{"benchmark", name}};
    for (auto const& [before, after] : tally.measured)
      entry["pairs"].push_back({before, after});
    list.push_back(std::move(entry));
  }
  std::ofstream stream{file};
  stream << list.dump() << '\n';
  if (!stream) throw std::runtime_error(file + ": the file cannot be written");
}

/// Makes the comparisons. Returns false when SIGINT or SIGTERM ended it early.
bool run_to_the_end(asio::io_context& loop, asio::awaitable<int> comparisons) {
  try {
    async::run_until_signal(loop, std::move(comparisons));
    return true;
  } catch (boost::system::system_error const& problem) {
    if (problem.code() != asio::error::operation_aborted) throw;
    return false;
  }
}

int run(Options const& options) {
  spdlog::set_level(spdlog::level::warn);
  Directory const directory;
  auto store = storage::Store::open(directory.path() / "aa.sqlite");
  if (!store) throw std::runtime_error(store.error().message);
  config::Options configured;
  configured.measure.worker = TORCHWATCH_WORKER;
  configured.measure.pin = options.pin;
  configured.suite.scale = config::Scale::smoke;
  SystemClock const clock;
  asio::io_context loop{1};
  measure::Fleets fleets{
      loop.get_executor(), {config::FleetOptions{}}, [&](config::FleetOptions const& fleet) {
        return measure::runner_processes(loop.get_executor(), fleet, TORCHWATCH_PROGRAM, {});
      }};
  measure::SystemSeeds seeds;
  metrics::Counters counters;
  measure::FleetRounds rounds{*store, clock, seeds, fleets, configured, counters};
  std::array const builds{system_build(directory.path() / "a", 'a'),
                          system_build(directory.path() / "b", 'b')};
  Tallies tallies;
  bool const is_complete = run_to_the_end(loop, compare_all(rounds, options, builds, tallies));
  bool const is_clean = print_table(tallies);
  if (!options.record.empty()) write_pairs(tallies, options.record);
  return is_complete && is_clean ? 0 : 1;
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  torchwatch::bench::Options options;
  CLI::App app{"Compares a build with itself many times, with the real worker"};
  app.add_option("--comparisons", options.comparisons)->capture_default_str();
  app.add_option("--model", options.models, "Models to compare, at smoke scale")
      ->capture_default_str();
  app.add_flag("!--no-pin", options.pin, "Do not pin workers to processors");
  app.add_option("--record", options.record, "Write the pairs to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    return torchwatch::bench::run(options);
  } catch (std::exception const& problem) {
    std::cerr << "aa_comparisons: " << problem.what() << '\n';
    return 2;
  }
}
