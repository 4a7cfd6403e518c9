#include "tests/soak/plan.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace torchwatch::soak {
namespace {

constexpr std::size_t a_year = 365;

std::size_t count_of(Plan const& plan, Habit habit) {
  return static_cast<std::size_t>(std::ranges::count(plan.days, habit, &PlannedDay::habit));
}

TEST(PlanTest, HasEachFaultInAYear) {
  auto const plan = draw_plan(1, a_year);
  for (auto const habit : {Habit::missing, Habit::broken, Habit::late, Habit::twice})
    EXPECT_GT(count_of(plan, habit), 2U) << static_cast<int>(habit);
  for (auto const fault : {&PlannedDay::is_github_down,
                           &PlannedDay::is_disk_full,
                           &PlannedDay::has_no_space_for_a_build})
    EXPECT_GT(std::ranges::count(plan.days, true, fault), 2);
  EXPECT_TRUE(std::ranges::any_of(
      plan.days, [](PlannedDay const& day) { return day.rounds_until_slots_die.has_value(); }));
  EXPECT_TRUE(std::ranges::any_of(plan.days,
                                  [](PlannedDay const& day) { return !day.lost_model.empty(); }));
}

TEST(PlanTest, PlantsChangesOfEachKindAboveAndBelowTheThreshold) {
  auto const plan = draw_plan(1, a_year);
  EXPECT_GT(plan.planted.size(), 60U);
  for (auto const metric : {Metric::latency, Metric::cmem, Metric::leak})
    EXPECT_TRUE(std::ranges::any_of(plan.planted, [&](Planted const& planted) {
      return planted.metric == metric && is_to_be_filed(planted);
    })) << metric.name();
  auto const below = std::ranges::count_if(
      plan.planted, [](Planted const& planted) { return !is_to_be_filed(planted); });
  EXPECT_GT(below, 3);
}

TEST(PlanTest, ShowsEachChangeOnANightlyBeforeItEnds) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto plan = draw_plan(seed, a_year);
    // A full disk delays a nightly, but does not hide it.
    for (auto& day : plan.days)
      day.is_disk_full = false;
    for (auto const& planted : plan.planted) {
      EXPECT_LT(day_that_shows(plan, planted.model, planted.begins), planted.ends) << seed;
      EXPECT_LT(day_that_shows(plan, planted.model, planted.ends, 2), a_year) << seed;
    }
  }
}

TEST(PlanTest, ChangesAModelAgainOnlyAfterItsLastChangeEnded) {
  constexpr std::size_t apart = 15;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto const plan = draw_plan(seed, a_year);
    for (auto const& planted : plan.planted)
      for (auto const& later : plan.planted)
        if (later.model == planted.model && later.begins > planted.begins) {
          EXPECT_GE(later.begins, planted.ends + apart) << seed;
        }
  }
}

TEST(PlanTest, OfOneSeedIsAlwaysTheSame) {
  auto const one = draw_plan(7, a_year);
  auto const other = draw_plan(7, a_year);
  EXPECT_TRUE(std::ranges::equal(one.planted, other.planted, {}, &Planted::ratio, &Planted::ratio));
  EXPECT_TRUE(std::ranges::equal(one.days, other.days, {}, &PlannedDay::habit, &PlannedDay::habit));
}

TEST(PlanTest, ExpectsTheDriftOnlyOfALongPlan) {
  EXPECT_FALSE(is_drift_to_be_found(draw_plan(1, 60)));
  EXPECT_TRUE(is_drift_to_be_found(draw_plan(1, a_year)));
}

TEST(PlanTest, SkipsNightliesThatCannotShowAChange) {
  Plan plan;
  plan.days.resize(6);
  plan.days[1].habit = Habit::missing;
  plan.days[2].lost_model = "alpha";
  plan.days[3].is_disk_full = true;
  EXPECT_EQ(day_that_shows(plan, "alpha", 1), 4U);
  EXPECT_EQ(day_that_shows(plan, "beta", 1), 2U);
  EXPECT_EQ(day_that_shows(plan, "alpha", 0, 1), 4U);
}

}  // namespace
}  // namespace torchwatch::soak
