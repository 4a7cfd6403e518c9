/// Measures the effect of the sandbox on measurements: real workers inside and outside run in one
/// round and take turns run by run.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "claims.h"
#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>

#include "runner/process/sandbox.h"
#include "runner/round.h"
#include "runner/turn_order.h"

namespace torchwatch::bench {
namespace {

struct Options {
  std::vector<std::string> benchmarks{"test_train[soft_actor_critic-cpu-eager]",
                                      "test_train[dcgan-cpu-eager]"};
  int pairs = 30;
};

protocol::Job job_of(std::string const& benchmark) {
  protocol::Job job;
  job.id = "isolation";
  job.benchmark = benchmark;
  job.build.worker = TORCHWATCH_WORKER;
  job.measure.scale = "smoke";
  job.measure.leak_iterations = 8;
  return job;
}

/// The command of the worker in a sandbox, as the runner starts it.
protocol::Job confined(protocol::Job job) {
  std::string const worker = job.build.worker;
  process::Sandbox sandbox;
  sandbox.readable = {worker.substr(0, worker.rfind('/'))};
  job.build.launcher = process::sandboxed(process::Isolation::bubblewrap, sandbox, {});
  return job;
}

template <class T>
T result_of(boost::asio::awaitable<T> task) {
  boost::asio::io_context loop{1};
  auto result = boost::asio::co_spawn(loop, std::move(task), boost::asio::use_future);
  loop.run();
  return result.get();
}

/// Returns the milliseconds of each. `seed` determines their places and turns.
std::vector<double> latencies(std::vector<protocol::Job> const& jobs, std::uint32_t seed) {
  auto const who = runner::TurnOrder{seed, runner::Drawn::places, jobs.size()}.next();
  protocol::Round round;
  round.seed = seed;
  for (auto const job : who)
    round.jobs.push_back(jobs[job]);
  auto const answers =
      result_of(runner::run_round(std::move(round), {}, [](protocol::Progress const&) {}));
  std::vector<double> all(jobs.size());
  for (std::size_t place = 0; place < who.size(); ++place) {
    if (auto const* const failure = std::get_if<protocol::Failure>(&answers[place]))
      throw std::runtime_error{failure->text};
    all[who[place]] = std::get<protocol::Outcome>(answers[place]).metrics.at("latency").value;
  }
  return all;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

int run(Options const& options) {
  std::random_device seeds;
  std::vector<Claim> claims;
  fmt::print("{:<44} {:>12} {:>18} {:>22}\n",
             "benchmark",
             "outside, ms",
             "inside to outside",
             "sd of one pair");
  for (auto const& benchmark : options.benchmarks) {
    auto const outside = job_of(benchmark);
    auto const inside = confined(outside);
    std::vector<double> milliseconds;
    std::vector<double> ratios;
    for (int pair = 0; pair < options.pairs; ++pair) {
      auto const both = latencies({outside, inside}, seeds());
      milliseconds.push_back(both[0]);
      ratios.push_back(std::log(both[1] / both[0]));
    }
    double squares = 0;
    double const middle = median(ratios);
    for (double const ratio : ratios)
      squares += (ratio - middle) * (ratio - middle);
    fmt::print("{:<44} {:>12.3f} {:>17.2f}% {:>21.2f}%\n",
               benchmark,
               median(milliseconds),
               100 * std::expm1(middle),
               100 * std::sqrt(squares / static_cast<double>(ratios.size())));
    std::fflush(stdout);
    claims.push_back({"inside to outside, " + benchmark, std::abs(std::expm1(middle)), 0.005});
  }
  return print_claims(claims) ? 0 : 1;
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  torchwatch::bench::Options options;
  CLI::App app{"The real worker in a sandbox, compared with the worker without one"};
  app.add_option("--benchmark", options.benchmarks, "Benchmarks to measure")->capture_default_str();
  app.add_option("--pairs", options.pairs, "Number of rounds for each benchmark")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return torchwatch::bench::run(options);
}
