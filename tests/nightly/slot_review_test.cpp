#include "daemon/nightly/slot_review.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// A fleet of several slots that measures 40 benchmarks. A nightly is released for each day.
class SlotReviewTest : public testing::Test {
 protected:
  SlotReviewTest() { set_slots(4); }

  void set_slots(int slots) {
    world.options.fleets.front().slots = slots;
    world.options.suite.models.clear();
    for (int model = 10; model < 50; ++model)
      world.options.suite.models.push_back(fmt::format("model{}", model));
    world.restart();
    world.parts->rounds.slots.assign(static_cast<std::size_t>(slots),
                                     fakes::ScriptedRounds::Slot{});
    world.parts->rounds.noise_of_runs = 0.02;
  }

  fakes::ScriptedRounds::Slot& slot(std::size_t number) {
    return world.parts->rounds.slots.at(number);
  }

  /// Judges the nightly of the next day, which has three commits more.
  void judge_a_night() {
    ++day_;
    world.release(fmt::format("2026-01-{:02}", day_), 3 * day_);
    ASSERT_TRUE(world.pass());
  }

  SlotUse use_of(std::size_t number) {
    auto const state = world.parts->store.slots().find("local", number);
    return state ? state->use : SlotUse::in_use;
  }

  std::vector<std::size_t> quarantined() {
    auto const slots = world.parts->store.slots().quarantined("local");
    return {slots.begin(), slots.end()};
  }

  std::vector<Alarm> alarms() {
    auto open = world.parts->store.alarms().open();
    std::erase_if(open, [](Alarm const& alarm) { return alarm.kind != AlarmKind::slot_unfit; });
    return open;
  }

  /// The number of processes of the newest nightly's own rounds that ran on the slot.
  std::ptrdiff_t judging_processes_on(int number) {
    auto const jobs = world.parts->store.jobs().of(Campaign::of(world.newest().id));
    return std::ranges::count(jobs, number, &JobOutcome::slot);
  }

  int check_rounds_on(std::size_t number) {
    return world.parts->rounds.measured[Campaign::slot_check(world.newest().id, number).name];
  }

  /// Judges nights on which a slot becomes unfit and is well again. The first of its nights has a
  /// regression of +10%. Expects that this is all that was found.
  void expect_quarantine_and_return(fakes::ScriptedRounds::Slot const& unfit) {
    world.change(8, "model17", 1.1);
    judge_a_night();
    judge_a_night();
    ASSERT_THAT(quarantined(), IsEmpty());

    slot(3) = unfit;
    judge_a_night();
    EXPECT_THAT(quarantined(), ElementsAre(3));
    ASSERT_THAT(alarms(), SizeIs(1));
    EXPECT_EQ(alarms()[0].subject, "local: slot 3");
    judge_a_night();
    EXPECT_THAT(quarantined(), ElementsAre(3));
    EXPECT_EQ(judging_processes_on(3), 0);
    EXPECT_EQ(check_rounds_on(3), 24);

    slot(3) = {};
    judge_a_night();
    EXPECT_THAT(quarantined(), IsEmpty());
    EXPECT_THAT(alarms(), IsEmpty());
    judge_a_night();
    EXPECT_GT(judging_processes_on(3), 0);
    expect_only_the_regression();
  }

  void expect_only_the_regression() {
    auto const incidents = world.parts->store.incidents().all();
    ASSERT_THAT(incidents, SizeIs(1));
    ASSERT_THAT(incidents[0].changes, SizeIs(1));
    EXPECT_EQ(incidents[0].changes[0].series, world.series("model17"));
    auto const bisections = world.parts->store.bisections().of_incident(incidents[0].id);
    ASSERT_THAT(bisections, SizeIs(1));
    EXPECT_THAT(bisections[0].findings, SizeIs(1));
  }

  fakes::World world{20};

 private:
  std::size_t day_ = 0;
};

TEST_F(SlotReviewTest, SlotTenPercentSlowerIsQuarantinedInOneNightAndReturns) {
  expect_quarantine_and_return({.level = 1.1, .noise = 1});
}

TEST_F(SlotReviewTest, SlotThreeTimesNoisierIsQuarantinedInOneNightAndReturns) {
  expect_quarantine_and_return({.level = 1, .noise = 3});
}

TEST_F(SlotReviewTest, AlarmNamesSlotAndFigureAndAction) {
  judge_a_night();
  slot(2).level = 1.25;
  judge_a_night();
  ASSERT_THAT(alarms(), SizeIs(1));
  EXPECT_THAT(alarms()[0].detail,
              AllOf(HasSubstr("slot 2 of fleet local"),
                    HasSubstr("slower than the other slots"),
                    HasSubstr("check rounds"),
                    HasSubstr("compare its host")));
}

TEST_F(SlotReviewTest, AtLeastHalfOfTheSlotsStayInUse) {
  set_slots(3);
  judge_a_night();
  slot(1).level = 1.2;
  slot(2).noise = 6;
  for (int night = 0; night < 2; ++night) {
    judge_a_night();
    EXPECT_THAT(quarantined(), ElementsAre(2)) << "the worst one";
    ASSERT_THAT(alarms(), SizeIs(2));
    EXPECT_THAT(alarms(),
                Contains(testing::Field(&Alarm::detail,
                                        AllOf(HasSubstr("slot 1"), HasSubstr("stays in use")))));
  }
}

TEST_F(SlotReviewTest, SlowSlotOfTwoIsNotQuarantined) {
  set_slots(2);
  judge_a_night();
  slot(1).level = 1.3;
  judge_a_night();
  EXPECT_THAT(quarantined(), IsEmpty());
  EXPECT_THAT(alarms(), IsEmpty());
}

TEST_F(SlotReviewTest, RepeatedReviewChangesNothing) {
  judge_a_night();
  slot(3).level = 1.1;
  judge_a_night();
  auto const before = world.parts->store.slots().all();
  world.clock.time += std::chrono::hours{1};
  world.parts->slot_review.run(world.newest());
  EXPECT_EQ(world.parts->store.slots().all(), before);
  EXPECT_THAT(alarms(), SizeIs(1));
}

TEST_F(SlotReviewTest, SlowSlotStaysQuarantinedWhileItsLevelCannotBeCompared) {
  set_slots(3);
  judge_a_night();
  slot(2).level = 1.2;
  judge_a_night();
  ASSERT_THAT(quarantined(), ElementsAre(2));
  auto other = world.parts->store.slots().find("local", 1).value();
  other.use = SlotUse::quarantined;
  world.parts->store.slots().set(other);
  world.parts->rounds.out_of_service_slots = {1};
  judge_a_night();
  EXPECT_THAT(quarantined(), ElementsAre(1, 2)) << "two slots do not show which one is slow";
  EXPECT_THAT(alarms(), SizeIs(1));
}

TEST_F(SlotReviewTest, SlotThatCannotMeasureItsCheckRoundsStopsNoSweep) {
  judge_a_night();
  slot(3).level = 1.1;
  judge_a_night();
  world.parts->rounds.out_of_service_slots = {3};
  judge_a_night();
  EXPECT_EQ(world.newest().state, NightlyState::done);
  EXPECT_EQ(use_of(3), SlotUse::quarantined);
  EXPECT_THAT(world.alarms(), Contains(AlarmKind::slot_unfit));
  EXPECT_THAT(world.alarms(), Not(Contains(AlarmKind::nightly_failed)));
}

}  // namespace
}  // namespace torchwatch::nightly
