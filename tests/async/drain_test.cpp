#include "daemon/async/drain.h"

#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

namespace torchwatch::async {
namespace {

namespace asio = boost::asio;

/// Tasks that enter a drain and hold their step.
class DrainTest : public testing::Test {
 protected:
  void begin(std::optional<Drain::Step>& step) {
    asio::co_spawn(loop,
                   hold(step),
                   asio::bind_cancellation_slot(
                       stop.slot(), [this](std::exception_ptr failure) { thrown = failure; }));
    loop.restart();
    loop.poll();
  }

  asio::awaitable<void> hold(std::optional<Drain::Step>& step) {
    auto entered = co_await drain.enter();
    step.emplace(std::move(entered));
  }

  asio::io_context loop{1};
  asio::cancellation_signal stop;
  std::exception_ptr thrown;
  Drain drain;
};

TEST_F(DrainTest, CountsStepsUntilTheyEnd) {
  std::optional<Drain::Step> one;
  std::optional<Drain::Step> two;
  begin(one);
  begin(two);
  EXPECT_EQ(drain.steps(), 2);
  one.reset();
  EXPECT_EQ(drain.steps(), 1);
  two.reset();
  EXPECT_EQ(drain.steps(), 0);
}

TEST_F(DrainTest, LetsRunningStepsEndAndNoOtherBeginOnceItIsClosed) {
  std::optional<Drain::Step> running;
  std::optional<Drain::Step> late;
  begin(running);
  drain.close();
  begin(late);
  EXPECT_FALSE(late);
  EXPECT_EQ(drain.steps(), 1);
  running.reset();
  loop.poll();
  EXPECT_FALSE(late) << "it waits until it is cancelled";
}

TEST_F(DrainTest, CancellationEndsTheWait) {
  std::optional<Drain::Step> late;
  drain.close();
  begin(late);
  stop.emit(asio::cancellation_type::terminal);
  loop.restart();
  loop.poll();
  ASSERT_TRUE(thrown);
  EXPECT_THROW(std::rethrow_exception(thrown), boost::system::system_error);
  EXPECT_EQ(drain.steps(), 0);
}

}  // namespace
}  // namespace torchwatch::async
