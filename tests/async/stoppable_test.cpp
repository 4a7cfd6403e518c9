#include "daemon/async/stoppable.h"

#include <chrono>
#include <stdexcept>
#include <string>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

namespace torchwatch::async {
namespace {

namespace asio = boost::asio;

/// Records that it was destroyed.
class Witness {
 public:
  explicit Witness(bool& gone) : gone_{gone} {}

  Witness(Witness const&) = delete;
  Witness& operator=(Witness const&) = delete;

  ~Witness() { gone_ = true; }

 private:
  bool& gone_;
};

class StoppableTest : public testing::Test {
 protected:
  /// Waits until it is cancelled, or called back.
  asio::awaitable<int> wait_then(int result) {
    Witness const witness{gone_};
    timer_.expires_at(asio::steady_timer::time_point::max());
    co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    co_await nothing();  // throws when cancelled
    co_return result;
  }

  static asio::awaitable<void> nothing() { co_return; }

  static asio::awaitable<int> fail() {
    throw std::runtime_error("the disk is full");
    co_return 0;
  }

  /// Runs a task under the stoppable, records its result, and continues.
  asio::awaitable<void> await(asio::awaitable<int> task) {
    auto const result = co_await stoppable_.run(std::move(task));
    story_ += result ? std::to_string(*result) : "stopped";
    co_await nothing();
    story_ += ", and on";
  }

  void start(asio::awaitable<void> caller) {
    auto finished = [this](std::exception_ptr failure) {
      if (!failure) return;
      story_ += is_cancellation(failure) ? "cancelled" : "failed";
    };
    asio::co_spawn(loop_,
                   std::move(caller),
                   asio::bind_cancellation_slot(cancel_.slot(), std::move(finished)));
    work();
  }

  void stop() { stoppable_.stop(); }

  void cancel() { cancel_.emit(asio::cancellation_type::terminal); }

  /// Makes a call on the loop, as every call must be made.
  template <class Call>
  void now(Call call) {
    asio::post(loop_, std::move(call));
    work();
  }

  void work() {
    loop_.restart();
    loop_.poll();
  }

  asio::io_context loop_{1};
  asio::steady_timer timer_{loop_};
  asio::cancellation_signal cancel_;
  Stoppable stoppable_;
  std::string story_;
  bool gone_ = false;
};

TEST_F(StoppableTest, ReturnsWhatTheTaskReturns) {
  start(await(wait_then(7)));
  now([this] { timer_.cancel(); });
  EXPECT_EQ(story_, "7, and on");
}

TEST_F(StoppableTest, StopEndsTheTaskAndTheCallerGoesOn) {
  start(await(wait_then(7)));
  EXPECT_FALSE(gone_);
  now([this] { stop(); });
  EXPECT_TRUE(gone_);
  EXPECT_EQ(story_, "stopped, and on");
}

TEST_F(StoppableTest, TheCallersCancellationEndsTheTaskAndTheCaller) {
  start(await(wait_then(7)));
  now([this] { cancel(); });
  EXPECT_TRUE(gone_);
  EXPECT_EQ(story_, "cancelled");
}

TEST_F(StoppableTest, BothAtOnceEndTheCallerToo) {
  start(await(wait_then(7)));
  now([this] {
    stop();
    cancel();
  });
  EXPECT_TRUE(gone_);
  EXPECT_EQ(story_, "stoppedcancelled") << "what it awaits next throws";
}

TEST_F(StoppableTest, FailuresGoThrough) {
  start(await(fail()));
  EXPECT_EQ(story_, "failed");
}

TEST_F(StoppableTest, RunsOneTaskAfterTheOther) {
  start(await(wait_then(7)));
  now([this] { stop(); });
  now([this] { stop(); });  // nothing runs
  start(await(wait_then(8)));
  now([this] { timer_.cancel(); });
  start(await(wait_then(9)));
  now([this] { stop(); });
  EXPECT_EQ(story_, "stopped, and on8, and onstopped, and on");
}

}  // namespace
}  // namespace torchwatch::async
