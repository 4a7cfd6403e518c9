#include "daemon/service/service_manager.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

#include "daemon/service/health_reporter.h"
#include "tests/notify_socket.h"
#include "tests/temporary_folder.h"
#include "tests/temporary_variable.h"

namespace torchwatch::service {
namespace {

using namespace std::chrono_literals;
using testing::Optional;
using testing::StrEq;

constexpr auto variable = "NOTIFY_SOCKET";

TEST(ServiceManager, ReceivesMessagesAtPath) {
  tests::TemporaryFolder const folder;
  tests::NotifySocket const socket{(folder / "notify").string()};
  tests::TemporaryVariable const named{variable, socket.name()};

  EXPECT_TRUE(ServiceManager::from_environment().send("READY=1\nSTATUS=idle"));

  EXPECT_THAT(socket.next(1s), Optional(StrEq("READY=1\nSTATUS=idle")));
}

TEST(ServiceManager, ReceivesMessagesAtAbstractName) {
  tests::NotifySocket const socket{"@torchwatch-test-" + std::to_string(::getpid())};

  EXPECT_TRUE(ServiceManager{socket.name()}.send("WATCHDOG=1"));

  EXPECT_THAT(socket.next(1s), Optional(StrEq("WATCHDOG=1")));
}

TEST(ServiceManager, DoesNothingWithoutSocket) {
  tests::TemporaryVariable const none{variable, std::nullopt};

  EXPECT_FALSE(ServiceManager::from_environment().send("READY=1"));
  EXPECT_FALSE(ServiceManager{"vsock:2:1234"}.send("READY=1")) << "another kind of socket";
  EXPECT_FALSE(ServiceManager{"/" + std::string(200, 'x')}.send("READY=1")) << "too long";
  EXPECT_FALSE(ServiceManager{"/nowhere/notify"}.send("READY=1"));
}

TEST(ServiceManager, NeverWaitsForManagerThatDoesNotRead) {
  tests::TemporaryFolder const folder;
  tests::NotifySocket const socket{(folder / "notify").string()};
  ServiceManager const manager{socket.name()};

  int sent = 0;
  while (sent < 100'000 && manager.send("WATCHDOG=1"))
    ++sent;

  EXPECT_LT(sent, 100'000) << "the socket's queue has no limit, so this test shows nothing";
}

class StatusLine : public testing::Test {
 protected:
  static api::HealthState healthy() {
    api::HealthState health;
    health.heartbeat = api::HealthState::Instant{1000s};
    health.free_bytes = std::int64_t{10} << 30;
    health.slots = {{"cpu", {2, 0}}, {"gpu", {4, 0}}};
    return health;
  }

  static std::string line_of(api::HealthState const& health) {
    return status_line(health, *health.heartbeat);
  }
};

TEST_F(StatusLine, NamesSlotsThatMeasure) {
  auto health = healthy();
  EXPECT_EQ(line_of(health), "idle");
  health.slots["gpu"].taken = 3;
  EXPECT_EQ(line_of(health), "measuring on 3 of 6 slots");
}

TEST_F(StatusLine, IsOneLineWithAllProblems) {
  auto health = healthy();
  health.store_trouble = "disk\nSTATUS=full";
  health.store_damage = "damaged";
  EXPECT_EQ(line_of(health), "nothing can be stored: disk STATUS=full; damaged");
}

TEST_F(StatusLine, IsShorterThanTheMessagesThatSystemdDrops) {
  auto health = healthy();
  health.failed_passes = 3;
  health.failure = std::string(10'000, 'x');
  EXPECT_LT(line_of(health).size(), 4000);
}

}  // namespace
}  // namespace torchwatch::service
