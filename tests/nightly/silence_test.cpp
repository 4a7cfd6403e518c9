#include "daemon/nightly/silence.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>

#include "tests/fakes/memory/world.h"

namespace torchwatch::nightly {
namespace {

using std::chrono::days;
using std::chrono::hours;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// A service whose alarm about silence is checked without a pass, as the loop of answers does.
class SilenceAlarmTest : public testing::Test {
 protected:
  void judge(std::string const& date, std::size_t commit) {
    world.release(date, commit);
    ASSERT_TRUE(world.pass());
    world.parts->silence.check();
  }

  void check_after(std::chrono::seconds pause) {
    world.clock.time += pause;
    world.parts->silence.check();
  }

  bool is_raised() {
    return world.parts->store.alarms().find_open(AlarmKind::nothing_judged, "").has_value();
  }

  std::vector<OutboxEntry> messages(std::int64_t alarm) {
    return world.parts->store.outbox().of_alarm(AlarmId{alarm});
  }

  std::int64_t open_alarm() {
    return world.parts->store.alarms().find_open(AlarmKind::nothing_judged, "").value().id.value;
  }

  fakes::World world;
};

TEST_F(SilenceAlarmTest, IsRaisedAfterTheDaysAndClearedByAJudgedNightly) {
  judge("2026-01-03", 0);
  check_after(days{5} - std::chrono::seconds{1});
  EXPECT_FALSE(is_raised());
  check_after(std::chrono::seconds{1});
  ASSERT_TRUE(is_raised());
  auto const alarm = world.parts->store.alarms().open().back();
  EXPECT_THAT(alarm.detail, HasSubstr("since 2026-01-03 08:00 UTC (nightly 2026-01-03)"));

  judge("2026-01-08", 1);
  EXPECT_FALSE(is_raised());
}

TEST_F(SilenceAlarmTest, IsReportedOnceAndEndsOnceAlsoAfterRestarts) {
  judge("2026-01-03", 0);
  check_after(days{5});
  auto const alarm = open_alarm();
  for (int times = 0; times < 3; ++times) {
    world.restart();
    check_after(hours{12});
  }
  EXPECT_EQ(open_alarm(), alarm);
  EXPECT_THAT(messages(alarm), SizeIs(1));

  judge("2026-01-10", 1);
  world.restart();
  check_after(hours{12});
  EXPECT_FALSE(is_raised());
  EXPECT_THAT(messages(alarm), SizeIs(2));
}

TEST_F(SilenceAlarmTest, IsRaisedWhenNoNightlyWasEverJudged) {
  world.parts->silence.check();
  check_after(days{5});
  ASSERT_TRUE(is_raised());
  EXPECT_THAT(world.parts->store.alarms().open().back().detail, HasSubstr("(none before)"));
}

TEST_F(SilenceAlarmTest, IsRaisedWhenNightliesOnlyFail) {
  judge("2026-01-03", 0);
  for (int day = 4; day <= 8; ++day) {
    auto const prefix = world.deliver("2026-01-0" + std::to_string(day), 1);
    std::filesystem::remove_all(prefix);
    (void)world.pass();
    world.parts->silence.check();
  }
  check_after(hours{24});
  EXPECT_TRUE(is_raised());
}

TEST_F(SilenceAlarmTest, IsNeverRaisedWithZeroDays) {
  world.options.feed.unjudged_days = 0;
  judge("2026-01-03", 0);
  check_after(days{100});
  EXPECT_FALSE(is_raised());
}

TEST_F(SilenceAlarmTest, CountsFromTheCorrectedClockAfterOneThatWasSetBack) {
  world.clock.time += days{365};
  world.parts->silence.check();
  world.clock.time -= days{365};
  world.parts->silence.check();
  check_after(days{4});
  EXPECT_FALSE(is_raised());
  check_after(days{1});
  EXPECT_TRUE(is_raised());
}

TEST_F(SilenceAlarmTest, IsClearedWhenAClockThatWasAheadIsCorrected) {
  judge("2026-01-03", 0);
  check_after(days{400});
  ASSERT_TRUE(is_raised());
  check_after(-days{400});
  EXPECT_FALSE(is_raised());
}

TEST_F(SilenceAlarmTest, WritesAFileThatItsEndReplaces) {
  judge("2026-01-03", 0);
  check_after(days{5});
  auto const id = open_alarm();
  ASSERT_TRUE(world.run(world.parts->sender.send_due()));
  EXPECT_THAT(messages(id).back().place, HasSubstr("alarm-" + std::to_string(id) + ".md"));

  judge("2026-01-08", 1);
  ASSERT_TRUE(world.run(world.parts->sender.send_due()));
  EXPECT_THAT(messages(id).back().message.body, HasSubstr("Last judged: nightly 2026-01-08"));
  EXPECT_TRUE(messages(id).back().done_at);
}

TEST_F(SilenceAlarmTest, NamesTheOtherOpenAlarms) {
  judge("2026-01-03", 0);
  world.parts->store.alarms().raise(
      AlarmKind::runner_lost, "local", "no runner in /srv/secret/place", world.clock.now());
  check_after(days{5});
  auto const body = messages(open_alarm()).front().message.body;
  EXPECT_THAT(body, HasSubstr("`runner_lost`"));
  EXPECT_THAT(body, Not(HasSubstr("/srv/secret")));
}

}  // namespace
}  // namespace torchwatch::nightly
