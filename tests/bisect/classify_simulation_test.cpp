#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "host.h"
#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

config::DecideOptions const options;

struct Tally {
  int runs = 0;
  int wrong = 0;
  int skipped = 0;
  double rounds = 0;

  double mean_rounds() const { return rounds / runs; }
};

/// What is known after the incident was confirmed: its pairs, as many as Compare asked for.
Noise noise_of_comparison(Host& host, double ratio) {
  Compare compare{Metric::latency, options};
  do {
    compare.add(host.pair(100, 100 * ratio));
  } while (!compare.answer());
  return noise_of(compare.pairs());
}

enum class Knowledge { comparison, and_earlier_commits };

/// Searches of eight commits each, good and bad in turn.
Tally simulate(std::string const& name,
               Host::Noise noise,
               double ratio,
               int searches,
               Knowledge knowledge = Knowledge::comparison) {
  Host host{noise, 4242};
  Tally tally;
  for (int search = 0; search < searches; ++search) {
    auto prior = noise_of_comparison(host, ratio);
    for (int step = 0; step < 8; ++step) {
      bool const is_good = (search + step) % 2 == 0;
      std::vector<Round> rounds;
      std::optional<StepVerdict> verdict;
      while (!verdict) {
        rounds.push_back(host.round(100, is_good ? 100 : 100 * ratio, 100 * ratio));
        verdict = classify(rounds, prior, Metric::latency, options);
      }
      if (knowledge == Knowledge::and_earlier_commits) prior = prior + noise_of(rounds);
      ++tally.runs;
      tally.rounds += static_cast<double>(rounds.size());
      if (*verdict == StepVerdict::skip) ++tally.skipped;
      if (*verdict == (is_good ? StepVerdict::bad : StepVerdict::good)) ++tally.wrong;
    }
  }
  std::cout << std::left << std::setw(34) << name << " commits " << tally.runs << " wrong "
            << tally.wrong << " skipped " << tally.skipped << " rounds " << std::fixed
            << std::setprecision(2) << tally.mean_rounds() << '\n';
  return tally;
}

void expect_reliable(Tally const& tally) {
  EXPECT_LE(tally.wrong, options.step_error * tally.runs);
  EXPECT_LE(tally.skipped, 0.01 * tally.runs);
}

TEST(ClassifySimulation, TwentyPercentTakesAboutThreeRounds) {
  auto const quiet = simulate("+20%, 3%", {.sigma = 0.03}, 1.2, 250 * effort);
  expect_reliable(quiet);
  EXPECT_LT(quiet.mean_rounds(), 3);

  auto const noisy = simulate("+20%, 5%", {.sigma = 0.05}, 1.2, 250 * effort);
  expect_reliable(noisy);
  EXPECT_LT(noisy.mean_rounds(), 4.5);
}

TEST(ClassifySimulation, EarlierCommitsTeachTheNoise) {
  auto const learned = Knowledge::and_earlier_commits;
  auto const quiet =
      simulate("+20%, 3%, noise learned", {.sigma = 0.03}, 1.2, 250 * effort, learned);
  expect_reliable(quiet);
  EXPECT_LT(quiet.mean_rounds(), 2.5);

  auto const noisy =
      simulate("+20%, 5%, noise learned", {.sigma = 0.05}, 1.2, 250 * effort, learned);
  expect_reliable(noisy);
  EXPECT_LT(noisy.mean_rounds(), 4);
}

TEST(ClassifySimulation, TenPercentIsToldToo) {
  auto const quiet = simulate("+10%, 3%", {.sigma = 0.03}, 1.1, 100 * effort);
  expect_reliable(quiet);
  EXPECT_LT(quiet.mean_rounds(), 7);

  expect_reliable(simulate("+10%, 5%", {.sigma = 0.05}, 1.1, 100 * effort));
}

TEST(ClassifySimulation, AFasterEndIsToldAsWell) {
  expect_reliable(simulate("-20%, 3%", {.sigma = 0.03}, 0.8, 100 * effort));
}

TEST(ClassifySimulation, HeavyTailsAndDriftCostRoundsNotErrors) {
  expect_reliable(
      simulate("+20%, t(3) 5%", {.sigma = 0.05, .heavy_tails = true}, 1.2, 100 * effort));
  expect_reliable(
      simulate("+20%, 3%, drift 10%", {.sigma = 0.03, .drift = 0.1}, 1.2, 100 * effort));
}

TEST(ClassifySimulation, BurstsMisleadOnlyWhenTwoStrikeTheSameBuild) {
  auto const tally =
      simulate("+20%, 3%, 5% bursts", {.sigma = 0.03, .bursts = 0.05}, 1.2, 250 * effort);
  // Candidate or start, in both of the first two rounds; each half of the commits is open to half
  // of these.
  EXPECT_LE(tally.wrong, 0.05 * 0.05 * tally.runs);
  EXPECT_LE(tally.skipped, 0.01 * tally.runs);
}

}  // namespace
}  // namespace torchwatch::bisect
