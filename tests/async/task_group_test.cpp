#include "daemon/async/task_group.h"

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::async {
namespace {

namespace asio = boost::asio;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

asio::awaitable<void> forever() {
  asio::steady_timer timer{co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max()};
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> fail(std::string what) {
  asio::steady_timer timer{co_await asio::this_coro::executor, std::chrono::milliseconds{1}};
  co_await timer.async_wait(asio::use_awaitable);
  throw std::runtime_error(what);
}

asio::awaitable<void> fail_at_once(std::string what) {
  throw std::runtime_error(what);
  co_return;
}

asio::awaitable<void> count(int& times) {
  ++times;
  co_return;
}

class TaskGroupTest : public ::testing::Test {
 protected:
  /// Joins the group on the loop. True when join() returned.
  bool join() {
    bool joined = false;
    auto done = [&joined](std::exception_ptr failure) {
      joined = !failure;
    };
    asio::co_spawn(loop, group.join(), done);
    loop.run();
    return joined;
  }

  std::vector<std::string> failures;
  asio::io_context loop{1};
  TaskGroup group{loop.get_executor(), [this](std::string const& name, std::exception_ptr failure) {
                    try {
                      std::rethrow_exception(failure);
                    } catch (std::exception const& problem) {
                      failures.push_back(name + ": " + problem.what());
                    }
                  }};
};

TEST_F(TaskGroupTest, RunsTasksAndForgetsThem) {
  int times = 0;
  group.spawn("one", count(times));
  group.spawn("two", count(times));

  EXPECT_TRUE(join());

  EXPECT_EQ(times, 2);
  EXPECT_EQ(group.size(), 0U);
  EXPECT_THAT(failures, IsEmpty());
}

TEST_F(TaskGroupTest, ReportsWhoFailedAndWhy) {
  group.spawn("soon", fail("the disk is full"));
  group.spawn("at once", fail_at_once("no disk"));

  EXPECT_TRUE(join());

  EXPECT_THAT(failures, ElementsAre("at once: no disk", "soon: the disk is full"));
}

TEST_F(TaskGroupTest, JoinReturnsAtOnceWhenNothingRuns) {
  EXPECT_TRUE(join());
}

TEST_F(TaskGroupTest, JoinWaitsForTheLastTask) {
  group.spawn("endless", forever());
  asio::co_spawn(loop, group.join(), [](std::exception_ptr) {});

  loop.run_for(std::chrono::milliseconds{20});
  EXPECT_EQ(group.size(), 1U);

  group.cancel();
  loop.run();
  EXPECT_EQ(group.size(), 0U);
}

TEST_F(TaskGroupTest, CancelEndsTasksWithoutAReport) {
  group.spawn("endless", forever());
  group.spawn("endless too", forever());
  loop.run_for(std::chrono::milliseconds{1});

  group.cancel();

  EXPECT_TRUE(join());
  EXPECT_THAT(failures, IsEmpty());
}

TEST_F(TaskGroupTest, AFailureDuringCancellationIsStillReported) {
  group.spawn("stubborn", fail("lost a result"));

  group.cancel(asio::cancellation_type::partial);

  EXPECT_TRUE(join());
  EXPECT_THAT(failures, ElementsAre("stubborn: lost a result"));
}

TEST_F(TaskGroupTest, NothingStartsAfterCancel) {
  group.cancel();
  int times = 0;

  group.spawn("late", count(times));

  EXPECT_TRUE(join());
  EXPECT_EQ(times, 0);
}

TEST_F(TaskGroupTest, AnAbortedTaskThatWasNotCancelledIsReported) {
  group.spawn("aborted", []() -> asio::awaitable<void> {
    throw boost::system::system_error{asio::error::operation_aborted};
    co_return;
  }());

  EXPECT_TRUE(join());
  EXPECT_EQ(failures.size(), 1U);
}

}  // namespace
}  // namespace torchwatch::async
