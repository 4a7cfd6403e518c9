#include "bisect/compare/slot_comparison.h"

#include <cmath>
#include <limits>
#include <vector>

#include "slot_nights.h"
#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using tests::find_in;
using tests::SlotNights;

/// Rounds of that many units, each on two of three slots, without noise. `level` is that of slot 0.
std::vector<SlotRound> exact_rounds(std::size_t units, double level) {
  std::vector<SlotRound> rounds;
  for (std::size_t unit = 0; unit < units; ++unit) {
    double const usual = 10.0 + static_cast<double>(unit);
    for (std::size_t const slot : {unit % 3, (unit + 1) % 3}) {
      double const cost = usual * (slot == 0 ? level : 1);
      rounds.push_back({unit, slot, {cost, cost}, {0.01, 0.01}});
    }
  }
  return rounds;
}

TEST(SlotComparison, FindsTheLevelOfASlowSlotAndBlamesNoOther) {
  auto const figures = compare_slots(exact_rounds(60, 1.1), 3);
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_NEAR(figures[0].level.ratio, 1.1, 1e-6);
  EXPECT_EQ(figures[0].level.units, 40U);
  EXPECT_EQ(finding_of(figures[0]), SlotFinding::slow);
  for (std::size_t const other : {1U, 2U}) {
    EXPECT_NEAR(figures[other].level.ratio, 1, 1e-6);
    EXPECT_EQ(finding_of(figures[other]), SlotFinding::good);
  }
}

TEST(SlotComparison, BlamesNoSlotWhenOneIsFast) {
  for (auto const& figures : compare_slots(exact_rounds(60, 0.8), 3))
    EXPECT_EQ(finding_of(figures), SlotFinding::good);
}

TEST(SlotComparison, DecidesNothingFromFewUnits) {
  for (auto const& figures : compare_slots(exact_rounds(15, 2), 3)) {
    EXPECT_EQ(figures.level, SlotFigure{}) << "ten units a slot";
    EXPECT_EQ(finding_of(figures), SlotFinding::unknown);
  }
}

TEST(SlotComparison, DecidesNothingWhenNoBenchmarkIsOnTwoSlots) {
  std::vector<SlotRound> rounds;
  for (std::size_t unit = 0; unit < 60; ++unit)
    rounds.push_back({unit, unit % 3, {unit % 3 == 0 ? 20.0 : 10.0}});
  for (auto const& figures : compare_slots(rounds, 3))
    EXPECT_EQ(finding_of(figures), SlotFinding::unknown);
}

TEST(SlotComparison, CannotTellWhichOfTwoSlotsIsSlow) {
  SlotNights two;
  two.slots = 2;
  two.slower = 1.3;
  auto const found = find_in(two, 20, 3);
  EXPECT_EQ(found.first_unfit, 0);
  EXPECT_EQ(found.others_unfit, 0);
}

TEST(SlotComparison, FindsTheNoisierOfTwoSlots) {
  SlotNights two;
  two.slots = 2;
  two.noisier = 3;
  auto const found = find_in(two, 20, 3);
  EXPECT_EQ(found.first_unfit, 20);
  EXPECT_EQ(found.others_unfit, 0);
}

TEST(SlotComparison, FindsNoiseBetweenProcessesWhereRunsAreNotKnown) {
  SlotNights nights;
  nights.slots = 3;
  nights.benchmarks = 250;
  nights.run = 0;
  nights.noisier = 4;
  auto const found = find_in(nights, 20, 3);
  EXPECT_GE(found.first_unfit, 18);
  EXPECT_EQ(found.others_unfit, 0);
}

TEST(SlotComparison, IgnoresAChangeOfTheBuilds) {
  auto rounds = exact_rounds(60, 1);
  for (auto& round : rounds)
    round.costs.back() *= 1.1;
  for (auto const& figures : compare_slots(rounds, 3))
    EXPECT_EQ(finding_of(figures), SlotFinding::good);
}

TEST(SlotComparison, SkipsValuesThatAreNoTimes) {
  auto rounds = exact_rounds(60, 1.1);
  rounds.push_back({0, 0, {0, 10}, {0.01, std::nan("")}});
  rounds.push_back({1, 1, {std::numeric_limits<double>::infinity(), 10}});
  rounds.push_back({2, 2, {}});
  EXPECT_EQ(compare_slots(rounds, 3)[0].level, compare_slots(exact_rounds(60, 1.1), 3)[0].level);
  EXPECT_EQ(compare_slots({}, 2).size(), 2U);
}

/// The stated limit is 1 of 1,000 slots and nights; each row has 2,400.
TEST(SlotComparison, QuarantinesEqualSlotsInFewerThanOneOfAThousandNights) {
  for (bool const heavy_tails : {false, true}) {
    SlotNights equal;
    equal.heavy_tails = heavy_tails;
    auto const found = find_in(equal, 600, 11);
    EXPECT_LE(found.first_unfit + found.others_unfit, 2) << "heavy tails: " << heavy_tails;
  }
}

TEST(SlotComparison, FindsASlotThatIsTenPercentSlowerInOneNight) {
  SlotNights nights;
  nights.slower = 1.1;
  auto const found = find_in(nights, 100, 12);
  EXPECT_GE(found.first_unfit, 95);
  EXPECT_LE(found.others_unfit, 1);
}

TEST(SlotComparison, FindsASlotThatIsThreeTimesNoisierInOneNight) {
  SlotNights nights;
  nights.noisier = 3;
  auto const found = find_in(nights, 100, 13);
  EXPECT_GE(found.first_unfit, 95);
  EXPECT_LE(found.others_unfit, 1);
}

TEST(SlotComparison, CheckRoundsShowThatASlotIsWellAgain) {
  SlotNights well;
  well.is_checked = true;
  EXPECT_GE(find_in(well, 100, 14).first_good, 85);
  auto slow = well;
  slow.slower = 1.1;
  EXPECT_EQ(find_in(slow, 100, 15).first_good, 0);
  auto noisy = well;
  noisy.noisier = 3;
  EXPECT_EQ(find_in(noisy, 100, 16).first_good, 0);
}

}  // namespace
}  // namespace torchwatch::bisect
