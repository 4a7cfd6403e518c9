#include "tests/soak/soak.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <spdlog/spdlog.h>

#include "tests/soak/score.h"

namespace torchwatch::soak {
namespace {

/// Builds that are not optimized, as under the sanitizers, take ten times as long.
#ifdef __OPTIMIZE__
constexpr std::size_t two_months = 60;
constexpr std::size_t year = 365;
constexpr int kills = 1000;
#else
constexpr std::size_t two_months = fewest_days;
constexpr std::size_t year = fewest_days;
constexpr int kills = 50;
#endif

/// Lives through a plan. Checks that it broke no promise, and prints the table.
Outcome expect_no_problems(Request request) {
  spdlog::set_level(spdlog::level::off);
  Soak soak{request};
  soak.live();
  auto outcome = soak.outcome();
  auto const score = score_of(soak.plan(), outcome);
  fmt::print("{}", table_of(soak.plan(), outcome, score));
  EXPECT_THAT(score.problems, testing::IsEmpty());
  EXPECT_GT(score.to_be_filed, 0U);
  EXPECT_EQ(outcome.kills, request.kills);
  return outcome;
}

TEST(ShortSoak, FilesAndClosesEachRegressionOnceInAFaultyWorld) {
  auto const outcome = expect_no_problems({1, two_months, 10});
  EXPECT_GT(outcome.failed_passes, 0) << "the world is faulty";
}

TEST(LongSoak, FilesAndClosesEachRegressionOnceInAFaultyYear) {
  auto const outcome = expect_no_problems({2, year, 100});
  EXPECT_GT(outcome.failed_passes, 0) << "the world is faulty";
}

TEST(LongSoak, LosesAndRepeatsNothingThroughAThousandKills) {
  expect_no_problems({3, year, kills});
}

}  // namespace
}  // namespace torchwatch::soak
