#include "daemon/service/host_alarms.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/fakes/memory/executioner.h"
#include "tests/no_descriptors_left.h"
#include "tests/storage/samples.h"

namespace torchwatch::service {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A host whose state a test sets.
class HostAlarmsTest : public testing::Test {
 protected:
  HostAlarmsTest() {
    host.clock = tests::early;
    host.free_bytes = std::int64_t{1} << 40;
    host.open_files = 10;
    host.most_files = 1000;
    alarms.check(host);
  }

  /// Checks the host after a pause, in which its clock runs by another time.
  bool check_after(std::chrono::seconds pause, std::chrono::seconds by_clock) {
    host.uptime += pause;
    host.clock += by_clock;
    return alarms.check(host);
  }

  bool check() { return check_after(30s, 30s); }

  std::vector<std::string> subjects() {
    std::vector<std::string> open;
    for (auto const& alarm : store.alarms().open())
      open.push_back(alarm.subject);
    return open;
  }

  std::string detail() { return store.alarms().open().at(0).detail; }

  tests::TemporaryFolder folder;
  storage::Store store = storage::Store::open(folder.database()).value();
  HostReading host;
  HostAlarms alarms{store};
};

TEST_F(HostAlarmsTest, AHealthyHostHasNone) {
  check();
  EXPECT_THAT(subjects(), IsEmpty());
}

TEST_F(HostAlarmsTest, AFullDiskIsAnAlarmUntilItHasSpaceAgain) {
  host.free_bytes = 63 << 20;
  check();
  EXPECT_THAT(subjects(), ElementsAre("disk"));
  EXPECT_THAT(detail(), HasSubstr("63 MiB free, 64 are needed"));
  host.free_bytes = 100 << 20;
  check();
  EXPECT_THAT(subjects(), ElementsAre("disk")) << "a little more than the limit is not enough";
  host.free_bytes = 128 << 20;
  check();
  EXPECT_THAT(subjects(), IsEmpty());
}

TEST_F(HostAlarmsTest, AReadOnlyDirectoryIsAnAlarmUntilItCanBeWritten) {
  host.store_trouble = "attempt to write a readonly database";
  check();
  EXPECT_THAT(subjects(), ElementsAre("disk"));
  EXPECT_THAT(detail(), HasSubstr("nothing can be stored: attempt to write a readonly database"));
  host.store_trouble.clear();
  check();
  EXPECT_THAT(subjects(), IsEmpty());
}

TEST_F(HostAlarmsTest, AnAlarmThatCannotBeStoredIsStoredLater) {
  fakes::Executioner executioner{folder.database()};
  executioner.grant(0);
  host.free_bytes = 0;
  check();
  EXPECT_THAT(subjects(), IsEmpty());
  executioner.grant(1000);
  check();
  EXPECT_THAT(subjects(), ElementsAre("disk"));
}

TEST_F(HostAlarmsTest, ManyOpenDescriptorsAreAnAlarmUntilFewAreOpen) {
  host.open_files = 801;
  check();
  EXPECT_THAT(subjects(), ElementsAre("descriptors"));
  host.open_files = 700;
  check();
  EXPECT_THAT(subjects(), ElementsAre("descriptors"));
  host.open_files = 600;
  check();
  EXPECT_THAT(subjects(), IsEmpty());
}

TEST_F(HostAlarmsTest, AProcessWithoutDescriptorsIsRead) {
  auto const before = read_host(folder.path(), "", SystemClock{});
  EXPECT_GT(before.open_files, 0);
  EXPECT_GT(before.free_bytes, 0);
  EXPECT_GT(before.uptime.count(), 0);
  tests::NoDescriptorsLeft const none_left;
  auto const reading = read_host(folder.path(), "", SystemClock{});
  EXPECT_GT(reading.open_files * 100, reading.most_files * 80);
}

TEST_F(HostAlarmsTest, AClockThatIsSetForwardIsAnAlarmForADay) {
  EXPECT_FALSE(check_after(30s, 3h));
  EXPECT_THAT(subjects(), ElementsAre("clock"));
  EXPECT_THAT(detail(), HasSubstr("set forward by 179 minutes"));
  check_after(23h, 23h);
  EXPECT_THAT(subjects(), ElementsAre("clock"));
  check_after(1h, 1h);
  EXPECT_THAT(subjects(), IsEmpty());
}

TEST_F(HostAlarmsTest, AClockThatIsSetBackIsReportedToTheCaller) {
  EXPECT_TRUE(check_after(30s, -2h));
  EXPECT_THAT(subjects(), ElementsAre("clock"));
  EXPECT_THAT(detail(), HasSubstr("set back by 120 minutes"));
  EXPECT_FALSE(check());
}

TEST_F(HostAlarmsTest, CorrectionsAndSuspendedTimeAreNoJump) {
  EXPECT_FALSE(check_after(30s, 9min));
  EXPECT_FALSE(check_after(8h, 8h));
  EXPECT_THAT(subjects(), IsEmpty());
}

TEST_F(HostAlarmsTest, ThreeFailedPassesAreAnAlarmUntilOneSucceeds) {
  alarms.note_pass(2, "no disk space", tests::early);
  EXPECT_THAT(store.alarms().open(), IsEmpty());
  alarms.note_pass(3, "cannot start git: ENOMEM", tests::early);
  ASSERT_THAT(store.alarms().open(), testing::SizeIs(1));
  EXPECT_EQ(store.alarms().open().front().kind, AlarmKind::passes_failed);
  EXPECT_THAT(detail(), HasSubstr("the last 3 passes failed: cannot start git: ENOMEM"));
  alarms.note_pass(0, "", tests::early);
  EXPECT_THAT(store.alarms().open(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::service
