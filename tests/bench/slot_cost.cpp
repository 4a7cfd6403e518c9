/// Measures how well a service uses many slots, and what that costs it: real runners with scripted
/// workers that take a given time. This process is the service. Ideal is a round on every slot all
/// of the time.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include "daemon/async/run_until_signal.h"
#include "daemon/async/when_all.h"
#include "daemon/builds/manifest.h"
#include "daemon/measure/fleet_rounds.h"
#include "daemon/measure/runner_process.h"
#include "storage/store.h"

namespace torchwatch::bench {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

struct Load {
  int slots = 100;
  double seconds = 10;  ///< duration of each benchmark
  int rounds = 3;       ///< number of rounds on each slot
  std::vector<std::string> launcher;
};

struct Cost {
  int failed = 0;
  double wall_seconds = 0;
  double cpu_seconds = 0;  ///< processor time of this process, without its children
};

/// A temporary directory, removed with its contents by the destructor.
class Directory {
 public:
  Directory() : path_{(fs::temp_directory_path() / "torchwatch-slots-XXXXXX").string()} {
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

Benchmark benchmark() {
  return {"dcgan", Test::eval, Device::cpu, "eager"};
}

/// Makes a build whose benchmark takes that many seconds.
Build scripted_build(fs::path const& prefix, double seconds) {
  fs::create_directories(prefix);
  nlohmann::json const script{{"benchmarks", {{name_of(benchmark()), {{"seconds", seconds}}}}}};
  std::ofstream{prefix / "script.json"} << script;
  std::ofstream{prefix / "build.json"} << nlohmann::json{{"commit", std::string(40, 'a')}};
  return builds::read_build(prefix.string()).value();
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto const seconds = [](timeval const& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Measures one round after the other. Returns the number of rounds that failed.
asio::awaitable<int> measure_rounds(measure::Rounds& rounds, Build build, int slot, int count) {
  int failed = 0;
  for (int round = 0; round < count; ++round) {
    measure::RoundKey key{
        {"load/" + std::to_string(slot)}, config::FleetOptions{}.name, benchmark(), round};
    std::vector<Build> builds{build};
    auto const outcomes = co_await rounds.measure(std::move(key), std::move(builds));
    if (!outcomes) throw std::runtime_error(outcomes.error().message);
    failed += outcomes->front().ok() ? 0 : 1;
  }
  co_return failed;
}

/// Keeps all slots busy. The first round of each starts its runner, and does not count.
asio::awaitable<Cost> use_slots(measure::Rounds& rounds, Build build, Load load) {
  std::vector<asio::awaitable<int>> starts;
  for (int slot = 0; slot < load.slots; ++slot)
    starts.push_back(measure_rounds(rounds, build, slot, 1));
  co_await async::when_all(std::move(starts));

  auto const begun = std::chrono::steady_clock::now();
  auto const cpu = cpu_seconds();
  std::vector<asio::awaitable<int>> tasks;
  for (int slot = 0; slot < load.slots; ++slot)
    tasks.push_back(measure_rounds(rounds, build, load.slots + slot, load.rounds));
  auto const failed = co_await async::when_all(std::move(tasks));
  Cost cost;
  for (auto const number : failed)
    cost.failed += number;
  cost.cpu_seconds = cpu_seconds() - cpu;
  cost.wall_seconds =
      std::chrono::duration<double>{std::chrono::steady_clock::now() - begun}.count();
  co_return cost;
}

Cost measure(Load const& load) {
  spdlog::set_level(spdlog::level::warn);
  Directory const directory;
  auto store = storage::Store::open(directory.path() / "slots.sqlite");
  if (!store) throw std::runtime_error(store.error().message);
  config::Options options;
  options.measure.worker = SCRIPTED_WORKER_PROGRAM;
  options.measure.pin = false;
  config::FleetOptions fleet;
  fleet.slots = load.slots;
  fleet.launcher = load.launcher;
  fleet.isolation = config::IsolationWish::none;
  SystemClock const clock;
  asio::io_context loop{1};
  measure::Fleets fleets{loop.get_executor(), {fleet}, [&](config::FleetOptions const& one) {
                           return measure::runner_processes(
                               loop.get_executor(), one, TORCHWATCH_PROGRAM, {});
                         }};
  measure::SystemSeeds seeds;
  metrics::Counters counters;
  measure::FleetRounds rounds{*store, clock, seeds, fleets, options, counters};
  auto const build = scripted_build(directory.path() / "build", load.seconds);
  return async::run_until_signal(loop, use_slots(rounds, build, load));
}

void print_table(Load const& load, Cost const& cost) {
  auto const rounds = load.slots * load.rounds;
  auto const ideal = load.seconds * load.rounds;
  fmt::print("{:>5} {:>9} {:>7} {:>8} {:>9} {:>15} {:>13} {:>7}\n",
             "slots",
             "seconds",
             "rounds",
             "took s",
             "of ideal",
             "service (core)",
             "ms per round",
             "failed");
  fmt::print("{:>5} {:>9} {:>7} {:>8.1f} {:>8.1f}% {:>14.2f}% {:>13.2f} {:>7}\n",
             load.slots,
             load.seconds,
             rounds,
             cost.wall_seconds,
             100 * ideal / cost.wall_seconds,
             100 * cost.cpu_seconds / cost.wall_seconds,
             1000 * cost.cpu_seconds / rounds,
             cost.failed);
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  torchwatch::bench::Load load;
  CLI::App app{"Measures the use of many slots, and the cost for the service"};
  app.add_option("--slots", load.slots)->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--seconds", load.seconds, "Duration of each benchmark")->capture_default_str();
  app.add_option("--rounds", load.rounds, "Rounds of each slot")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--launcher", load.launcher, "Words before the runner's command, such as srun");
  CLI11_PARSE(app, argc, argv);
  try {
    auto const cost = torchwatch::bench::measure(load);
    torchwatch::bench::print_table(load, cost);
    return cost.failed == 0 ? 0 : 1;
  } catch (std::exception const& problem) {
    std::cerr << "slot_cost: " << problem.what() << '\n';
    return 2;
  }
}
