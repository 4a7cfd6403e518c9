#include <array>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "host.h"
#include "usual.h"
#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

struct Tally {
  int runs = 0;
  std::array<int, 4> verdicts{};  ///< counts, indexed by Verdict
  double pairs = 0;

  int count(Verdict verdict) const { return verdicts[static_cast<std::size_t>(verdict)]; }

  double share(Verdict verdict) const { return static_cast<double>(count(verdict)) / runs; }

  double mean_pairs() const { return pairs / runs; }

  /// A bound on a mean number of pairs, with what few runs may add by chance.
  double pairs_bound(double bound) const { return bound + 3 / std::sqrt(runs); }
};

Comparison measure(Host& host, double ratio) {
  Compare compare{Metric::latency, usual_options};
  while (true) {
    compare.add(host.pair(100, 100 * ratio));
    if (auto const comparison = compare.answer()) return *comparison;
  }
}

Tally simulate(std::string const& name, Host::Noise noise, double ratio, int runs) {
  Host host{noise, 1337};
  Tally tally{.runs = runs};
  for (int i = 0; i < runs; ++i) {
    auto const comparison = measure(host, ratio);
    ++tally.verdicts[static_cast<std::size_t>(comparison.verdict)];
    tally.pairs += comparison.pairs;
  }
  std::cout << std::left << std::setw(34) << name << std::fixed << std::setprecision(4);
  for (auto const verdict :
       {Verdict::regression, Verdict::improvement, Verdict::unchanged, Verdict::inconclusive}) {
    std::cout << ' ' << to_string(verdict) << ' ' << tally.share(verdict);
  }
  std::cout << " pairs " << std::setprecision(1) << tally.mean_pairs() << '\n';
  return tally;
}

TEST(CompareSimulation, FalseRegressionsStayBelowTheStatedError) {
  struct Case {
    std::string name;
    Host::Noise noise;
  };

  std::vector<Case> const cases{
      {"no change, 1%", {.sigma = 0.01}},
      {"no change, 3%", {.sigma = 0.03}},
      {"no change, 5%", {.sigma = 0.05}},
      {"no change, 8%", {.sigma = 0.08}},
      {"no change, t(3) 5%", {.sigma = 0.05, .heavy_tails = true}},
      {"no change, 3%, 5% bursts", {.sigma = 0.03, .bursts = 0.05}},
      {"no change, 3%, 20% bursts", {.sigma = 0.03, .bursts = 0.2}},
      {"no change, 3%, drift 10%", {.sigma = 0.03, .drift = 0.1}},
  };
  int runs = 0;
  int false_regressions = 0;
  for (auto const& [name, noise] : cases) {
    auto const tally = simulate(name, noise, 1.0, 300 * effort);
    runs += tally.runs;
    false_regressions += tally.count(Verdict::regression);
  }
  std::cout << false_regressions << " false regressions in " << runs << " comparisons\n";
  EXPECT_LE(false_regressions, usual_options.error * runs);
}

TEST(CompareSimulation, NoChangeIsDecidedInFewPairsOnAQuietHost) {
  auto const quiet = simulate("no change, 1%", {.sigma = 0.01}, 1.0, 100 * effort);
  EXPECT_EQ(quiet.count(Verdict::unchanged), quiet.runs);
  EXPECT_LT(quiet.mean_pairs(), quiet.pairs_bound(7));

  auto const ordinary = simulate("no change, 3%", {.sigma = 0.03}, 1.0, 200 * effort);
  EXPECT_EQ(ordinary.count(Verdict::unchanged), ordinary.runs);
  EXPECT_LT(ordinary.mean_pairs(), ordinary.pairs_bound(11));
}

TEST(CompareSimulation, TwentyPercentIsFoundInAFewPairs) {
  auto const quiet = simulate("+20%, 3%", {.sigma = 0.03}, 1.2, 200 * effort);
  EXPECT_GT(quiet.share(Verdict::regression), 0.999);
  EXPECT_LT(quiet.mean_pairs(), quiet.pairs_bound(13.1));  // what the sign test needs

  auto const noisy = simulate("+20%, 5%", {.sigma = 0.05}, 1.2, 200 * effort);
  EXPECT_GT(noisy.share(Verdict::regression), 0.999);
  EXPECT_LT(noisy.mean_pairs(), noisy.pairs_bound(13.5));

  auto const drifting =
      simulate("+20%, 3%, drift 10%", {.sigma = 0.03, .drift = 0.1}, 1.2, 200 * effort);
  EXPECT_GT(drifting.share(Verdict::regression), 0.999);
  EXPECT_LT(drifting.mean_pairs(), drifting.pairs_bound(17));

  auto const bursts =
      simulate("+20%, 3%, 5% bursts", {.sigma = 0.03, .bursts = 0.05}, 1.2, 200 * effort);
  EXPECT_GT(bursts.share(Verdict::regression), 0.99);
}

TEST(CompareSimulation, TenPercentIsFoundToo) {
  auto const quiet = simulate("+10%, 3%", {.sigma = 0.03}, 1.1, 200 * effort);
  EXPECT_GT(quiet.share(Verdict::regression), 0.99);
  EXPECT_LT(quiet.mean_pairs(), quiet.pairs_bound(13.5));

  auto const noisy = simulate("+10%, 5%", {.sigma = 0.05}, 1.1, 200 * effort);
  EXPECT_GT(noisy.share(Verdict::regression), 0.99);
  EXPECT_LT(noisy.mean_pairs(), noisy.pairs_bound(25));
}

TEST(CompareSimulation, TheIntervalHoldsTheTrueRatioWheneverItStops) {
  constexpr int runs = 5000;
  Host host{{.sigma = 0.04}, 7};
  int missed = 0;
  for (int i = 0; i < runs; ++i) {
    auto const found = measure(host, 1.15);
    if (found.ratio->low > 1.15 || found.ratio->high < 1.15) ++missed;
  }
  EXPECT_LE(missed, usual_options.error * runs);
}

}  // namespace
}  // namespace torchwatch::bisect
