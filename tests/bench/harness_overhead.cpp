/// Measures the overhead of the worker: its median of a benchmark, compared with a plain loop over
/// the same model. Both run in one process and take turns.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "claims.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "runner/suite/registry.h"
#include "runner/worker/gpu.h"
#include "runner/worker/host.h"
#include "runner/worker/job.h"
#include "runner/worker/measure.h"
#include "runner/worker/statistics.h"

namespace torchwatch::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> models{"dcgan", "lennard_jones", "soft_actor_critic", "tts_angular"};
  int turns = 20;
};

protocol::Job job_of(std::string const& model, std::string const& test) {
  protocol::Job job;
  job.id = "overhead";
  job.benchmark = "test_" + test + "[" + model + "-cpu-eager]";
  job.measure.scale = "smoke";
  job.measure.leak_iterations = 8;
  return job;
}

worker::Devices const& devices() {
  static auto const of_host = worker::devices_of_host();
  return of_host;
}

/// Returns the milliseconds of one iteration that the worker reports.
double by_worker(protocol::Job const& job) {
  auto const outcome = worker::measure(
      job, devices(), [](std::string const&, int, int) {}, [] {});
  return outcome.metrics.at("latency").value;
}

double milliseconds(suite::Workload& workload, int iterations) {
  auto const start = Clock::now();
  for (int i = 0; i < iterations; ++i)
    workload.step();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Returns the milliseconds of one iteration of a plain loop.
double by_hand(protocol::Job const& job) {
  auto const workload = worker::build(worker::resolve(job, devices()), job);
  double fastest = HUGE_VAL;
  for (int i = 0; i < job.measure.warmup; ++i)
    fastest = std::min(fastest, milliseconds(*workload, 1));
  int const iterations = std::max(1, static_cast<int>(std::ceil(job.measure.min_run_ms / fastest)));
  std::vector<double> runs;
  for (int i = 0; i < job.measure.runs; ++i)
    runs.push_back(milliseconds(*workload, iterations) / iterations);
  return worker::median(runs);
}

/// Returns the logarithm of the worker's time divided by the plain loop's, for each turn.
std::vector<double> ratios(protocol::Job const& job, int turns) {
  std::vector<double> all;
  by_hand(job);
  for (int turn = 0; turn < turns; ++turn) {
    // The first in a turn may have an advantage, so they alternate
    double const first = turn % 2 == 0 ? by_worker(job) : by_hand(job);
    double const second = turn % 2 == 0 ? by_hand(job) : by_worker(job);
    all.push_back(turn % 2 == 0 ? std::log(first / second) : std::log(second / first));
  }
  return all;
}

double mean(std::vector<double> const& values) {
  double sum = 0;
  for (double const value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

int run(Options const& options) {
  worker::keep_freed_memory();
  worker::set_threads(1);
  std::vector<double> medians;
  fmt::print("{:<40} {:>14}\n", "benchmark", "worker to bare");
  for (auto const& model : options.models) {
    for (std::string const test : {"train", "eval"}) {
      auto const job = job_of(model, test);
      medians.push_back(worker::median(ratios(job, options.turns)));
      fmt::print("{:<40} {:>13.2f}%\n", job.benchmark, 100 * std::expm1(medians.back()));
      std::fflush(stdout);
    }
  }
  double const overhead = std::abs(std::expm1(mean(medians)));
  return print_claims({{"worker to bare, mean of all benchmarks", overhead, 0.005}}) ? 0 : 1;
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  torchwatch::bench::Options options;
  CLI::App app{"The median that the worker reports, compared with a plain loop"};
  app.add_option("--model", options.models, "Models to measure")->capture_default_str();
  app.add_option("--turns", options.turns, "Number of measurements for each benchmark")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return torchwatch::bench::run(options);
}
