#include "bisect/classify.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

config::DecideOptions const options;
/// A process's log level has a standard deviation of 3%, known well.
Noise const three_percent{40 * 0.03 * 0.03, 40};

std::vector<Round> repeated(int count, Round round) {
  return std::vector<Round>(static_cast<std::size_t>(count), round);
}

TEST(Classify, TakesAtLeastTwoRounds) {
  EXPECT_FALSE(classify({}, three_percent, Metric::latency, options));
  EXPECT_FALSE(classify(repeated(1, {100, 100, 200}), three_percent, Metric::latency, options));
  EXPECT_EQ(classify(repeated(2, {100, 100, 200}), three_percent, Metric::latency, options),
            StepVerdict::good);
}

TEST(Classify, FollowsTheEndsWhicheverWayTheyMoved) {
  auto const judge = [](Round round) {
    return classify(repeated(4, round), three_percent, Metric::latency, options);
  };
  EXPECT_EQ(judge({100, 101, 120}), StepVerdict::good);
  EXPECT_EQ(judge({100, 119, 120}), StepVerdict::bad);
  EXPECT_EQ(judge({120, 119, 100}), StepVerdict::good);
  EXPECT_EQ(judge({120, 101, 100}), StepVerdict::bad);
}

TEST(Classify, BeyondAnEndIsThatEnd) {
  auto const judge = [](double candidate) {
    return classify(repeated(4, {100, candidate, 120}), three_percent, Metric::latency, options);
  };
  EXPECT_EQ(judge(80), StepVerdict::good);
  EXPECT_EQ(judge(150), StepVerdict::bad);
}

TEST(Classify, SkipsWhenTheRoundsAreSpent) {
  Round const halfway{100, 100 * std::sqrt(1.2), 120};
  EXPECT_FALSE(
      classify(repeated(options.max_pairs - 1, halfway), three_percent, Metric::latency, options));
  EXPECT_EQ(classify(repeated(options.max_pairs, halfway), three_percent, Metric::latency, options),
            StepVerdict::skip);
}

TEST(Classify, EndsThatDoNotDifferTellNothing) {
  EXPECT_EQ(
      classify(repeated(options.max_pairs, {100, 100, 100}), Noise{}, Metric::latency, options),
      StepVerdict::skip);
}

TEST(Classify, DecidesWithoutAnyNoise) {
  EXPECT_EQ(classify(repeated(2, {100, 100, 120}), Noise{}, Metric::latency, options),
            StepVerdict::good);
  EXPECT_EQ(classify(repeated(2, {100, 120, 120}), Noise{}, Metric::latency, options),
            StepVerdict::bad);
}

TEST(Classify, OneStrayProcessNeverDecidesAtOnce) {
  Noise const sure{1e6 * 1e-6, 1e6};
  for (double stray = 1.01; stray < 5; stray *= 1.01) {
    auto const judge = [&](Round odd, Round usual) {
      std::vector<Round> const rounds{odd, usual};
      return classify(rounds, sure, Metric::latency, options);
    };
    EXPECT_NE(judge({100, 100 * stray, 120}, {100, 100, 120}), StepVerdict::bad) << stray;
    EXPECT_NE(judge({100 * stray, 100, 120}, {100, 100, 120}), StepVerdict::bad) << stray;
    EXPECT_NE(judge({100, 120 / stray, 120}, {100, 120, 120}), StepVerdict::good) << stray;
    EXPECT_NE(judge({100, 120, 120 * stray}, {100, 120, 120}), StepVerdict::good) << stray;
  }
}

TEST(Classify, AValueThatIsNoNumberIsASkip) {
  auto rounds = repeated(options.max_pairs, {100, 100, 120});
  rounds[3].candidate = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(classify(rounds, three_percent, Metric::latency, options), StepVerdict::skip);
  EXPECT_EQ(noise_of(rounds).degrees, 0);
}

TEST(Classify, ADeterministicMetricTakesOneRoundAndTheNearerEnd) {
  auto const judge = [](Round round) {
    return classify(std::span{&round, 1}, Noise{}, Metric::cmem, options);
  };
  EXPECT_EQ(judge({100, 104, 110}), StepVerdict::good);
  EXPECT_EQ(judge({100, 106, 110}), StepVerdict::bad);
  EXPECT_EQ(judge({110, 106, 100}), StepVerdict::good);
  EXPECT_EQ(judge({0, 4096, 4096}), StepVerdict::bad);
  EXPECT_EQ(judge({100, 105, 110}), StepVerdict::skip);
  EXPECT_EQ(judge({100, 100, 100}), StepVerdict::skip);
}

TEST(NoiseOf, TakesOutLevelsAndDrift) {
  std::vector<Pair> const pairs{{100, 130}, {50, 65}, {70, 91}};
  EXPECT_NEAR(noise_of(pairs).sum_squares, 0, 1e-12);
  EXPECT_EQ(noise_of(pairs).degrees, 2);

  std::vector<Round> const rounds{{100, 110, 120}, {50, 55, 60}};
  EXPECT_NEAR(noise_of(rounds).sum_squares, 0, 1e-12);
  EXPECT_EQ(noise_of(rounds).degrees, 2);
}

TEST(NoiseOf, AddsUp) {
  auto const pooled = Noise{0.02, 4} + Noise{0.01, 6};
  EXPECT_DOUBLE_EQ(pooled.sum_squares, 0.03);
  EXPECT_DOUBLE_EQ(pooled.degrees, 10);
  EXPECT_EQ(noise_of(std::span<Pair const>{}).degrees, 0);
}

}  // namespace
}  // namespace torchwatch::bisect
