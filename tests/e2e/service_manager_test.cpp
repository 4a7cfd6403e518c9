#include <chrono>
#include <csignal>

#include <gmock/gmock.h>

#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"
#include "tests/notify_socket.h"

// `torchwatch serve` under a service manager: systemd starts, watches, stops and restarts it by
// these messages.
namespace torchwatch::e2e {
namespace {

using namespace std::chrono_literals;

constexpr auto pulse = "WATCHDOG=1";
constexpr auto period = 5s;  // of pulses

class ServiceManagerTest : public testing::Test {
 protected:
  Process start() {
    return world_.start_program({World::program(), "serve"}, {{"NOTIFY_SOCKET", socket_.name()}});
  }

  World world_{quick_world()};
  tests::NotifySocket socket_{(world_.directory() / "notify").string()};
};

TEST_F(ServiceManagerTest, IsNotifiedOnceTheServiceAnswers) {
  auto service = start();

  ASSERT_TRUE(socket_.receives("READY=1", 60s)) << service.err();

  EXPECT_TRUE(answers(listening_url(service.err()), "/healthz")) << service.err();
  EXPECT_FALSE(socket_.receives("READY=1", 2 * period)) << "ready twice";
  expect_quiet_end(world_, service);
  EXPECT_TRUE(socket_.receives("STOPPING=1", 1s));
}

TEST_F(ServiceManagerTest, GetsNoPulsesWhileServiceIsBlocked) {
  auto service = start();
  ASSERT_TRUE(socket_.receives("READY=1", 60s)) << service.err();
  ASSERT_TRUE(socket_.receives(pulse, 3 * period)) << service.err();

  service.send(SIGSTOP);
  socket_.next(100ms);  // it may have been sent just before
  socket_.clear();

  EXPECT_FALSE(socket_.receives(pulse, 2 * period));
  service.send(SIGCONT);
  EXPECT_TRUE(socket_.receives(pulse, 3 * period));
  expect_quiet_end(world_, service);
}

TEST_F(ServiceManagerTest, IsNotNotifiedByServiceThatCannotStart) {
  world_.configure({{"http", {{"token_file", "/nowhere/token"}}}});

  auto service = start();

  EXPECT_EQ(service.wait().status, 2);
  EXPECT_FALSE(socket_.next(0ms));
}

}  // namespace
}  // namespace torchwatch::e2e
