/// A load with a rhythm: keeps processors busy for a share of each period. Runs next to
/// aa_comparisons or a lab, and ends by itself.

#include <chrono>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

namespace torchwatch::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int period_ms = 200;
  double duty = 0.5;
  int threads = 1;
  int seconds = 60;
};

void spin_until(Clock::time_point end) {
  while (Clock::now() < end) {
  }
}

void load(Options const& options, Clock::time_point begin) {
  std::chrono::milliseconds const period{options.period_ms};
  auto const busy = std::chrono::duration_cast<Clock::duration>(period * options.duty);
  auto const end = begin + std::chrono::seconds{options.seconds};
  for (auto next = begin; next < end; next += period) {
    spin_until(next + busy);
    std::this_thread::sleep_until(next + period);
  }
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  using namespace torchwatch::bench;
  Options options;
  CLI::App app{"Keeps processors busy for a share of each period"};
  app.add_option("--period-ms", options.period_ms)
      ->check(CLI::Range(1, 600'000))
      ->capture_default_str();
  app.add_option("--duty", options.duty, "Busy share of each period")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option(
         "--threads", options.threads, "Number of threads, which are busy at the same times")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "Seconds until it ends")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  auto const begin = Clock::now();
  std::vector<std::jthread> threads;
  for (int i = 0; i < options.threads; ++i)
    threads.emplace_back(load, options, begin);
}
