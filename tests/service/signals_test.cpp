#include "daemon/service/signals.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

namespace torchwatch::service {
namespace {

using namespace std::chrono_literals;

/// The signals of a service whose program does not end.
class SignalsTest : public testing::Test {
 protected:
  template <class Condition>
  static bool soon(Condition condition) {
    for (int times = 0; times < 500 && !condition(); ++times)
      std::this_thread::sleep_for(10ms);
    return condition();
  }

  void listen() {
    signals_.deliver_to(
        [this](SignalRequest request) { ++(request == SignalRequest::stop ? stops_ : reloads_); });
  }

  std::atomic<int> ended_by_ = 0;
  std::atomic<int> stops_ = 0;
  std::atomic<int> reloads_ = 0;
  Signals signals_{[this](int signal) {
    ended_by_ = signal;
  }};
};

TEST_F(SignalsTest, SighupRequestsAReload) {
  listen();
  ::raise(SIGHUP);
  EXPECT_TRUE(soon([&] { return reloads_ == 1; }));
  EXPECT_EQ(stops_, 0);
}

TEST_F(SignalsTest, SigtermAndSigintRequestAStop) {
  listen();
  ::raise(SIGTERM);
  EXPECT_TRUE(soon([&] { return stops_ == 1; }));
  EXPECT_EQ(ended_by_, 0);
}

TEST_F(SignalsTest, TheSecondStopEndsTheProgramAtOnce) {
  listen();
  ::raise(SIGTERM);
  ASSERT_TRUE(soon([&] { return stops_ == 1; }));
  ::raise(SIGINT);
  EXPECT_TRUE(soon([&] { return ended_by_ == SIGINT; }));
}

TEST_F(SignalsTest, KeepARequestForTheNextListener) {
  listen();
  signals_.keep();
  ::raise(SIGTERM);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(stops_, 0);
  EXPECT_TRUE(soon([&] {
    listen();
    return stops_ == 1;
  }));
  EXPECT_EQ(reloads_, 0);
}

TEST_F(SignalsTest, KeepAStopRatherThanAReload) {
  signals_.keep(SignalRequest::reload);
  signals_.keep(SignalRequest::stop);
  signals_.keep(SignalRequest::reload);
  listen();
  EXPECT_EQ(stops_, 1);
  EXPECT_EQ(reloads_, 0);
}

TEST_F(SignalsTest, Sigusr1DoesNothing) {
  listen();
  ::raise(SIGUSR1);
  ::raise(SIGHUP);
  EXPECT_TRUE(soon([&] { return reloads_ == 1; }));
  EXPECT_EQ(stops_, 0);
}

}  // namespace
}  // namespace torchwatch::service
