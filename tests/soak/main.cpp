#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "tests/soak/score.h"
#include "tests/soak/soak.h"

namespace {

using namespace torchwatch;

/// Shows the progress on one line of a terminal; prints nothing elsewhere.
void show_progress(std::size_t done, std::size_t all) {
  static bool const is_shown = ::isatty(STDERR_FILENO) == 1;
  if (is_shown) std::cerr << fmt::format("\r{} of {} days", done, all) << std::flush;
  if (is_shown && done == all) std::cerr << '\n';
}

}  // namespace

/// torchwatch-soak: a year of the service in a faulty world, and what it found. Exits with 1 when a
/// promise was broken.
int main(int argc, char** argv) {
  CLI::App app{
      "Lets the service live through a year in a faulty world, on a fake clock, and compares what "
      "it filed with what was planted. The pipeline, the database and the outbox are real; the "
      "measurements, the builds and GitHub are fakes."};
  soak::Request request;
  app.add_option("--seed", request.seed, "Seed; equal seeds give equal worlds")
      ->capture_default_str();
  app.add_option("--nights", request.days, "Days of the world")
      ->check(CLI::Range(soak::fewest_days, std::size_t{3650}))
      ->capture_default_str();
  app.add_option("--kills", request.kills, "Kills of the service, at random moments")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  // The log of each pass. Its results are in the database.
  spdlog::set_level(spdlog::level::off);
  soak::Soak soak{request};
  soak.live([&](std::size_t done) { show_progress(done, request.days); });
  auto const outcome = soak.outcome();
  auto const score = soak::score_of(soak.plan(), outcome);
  std::cout << soak::table_of(soak.plan(), outcome, score);
  return score.problems.empty() ? 0 : 1;
}
