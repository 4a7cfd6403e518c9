#include "daemon/service/running_requests.h"

#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>

namespace torchwatch::service {
namespace {

namespace asio = boost::asio;

asio::awaitable<Result<int>> seven() {
  co_return 7;
}

asio::awaitable<Result<int>> wait_for_ever() {
  asio::steady_timer never{co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max()};
  co_await never.async_wait(asio::use_awaitable);
  co_return 0;
}

class RunningRequestsTest : public testing::Test {
 protected:
  void begin(asio::awaitable<Result<int>> task) {
    auto keep = [this](std::exception_ptr, Result<int> result) {
      answer.emplace(std::move(result));
    };
    asio::co_spawn(loop, requests.run(std::move(task)), std::move(keep));
    poll();
  }

  void end() {
    auto note = [this](std::exception_ptr) {
      has_ended = true;
    };
    asio::co_spawn(loop, requests.end(), std::move(note));
    poll();
  }

  void poll() {
    loop.restart();
    loop.poll();
  }

  asio::io_context loop{1};
  RunningRequests requests{loop.get_executor()};
  std::optional<Result<int>> answer;
  bool has_ended = false;
};

TEST_F(RunningRequestsTest, ReturnTheResult) {
  begin(seven());
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ(**answer, 7);
}

TEST_F(RunningRequestsTest, AreUnavailableOnceTheyAreStopped) {
  begin(wait_for_ever());
  ASSERT_FALSE(answer);
  end();
  ASSERT_TRUE(answer && !*answer);
  EXPECT_EQ(answer->error().code, ErrorCode::unavailable);
  EXPECT_TRUE(has_ended);
}

TEST_F(RunningRequestsTest, DoNotBeginAfterTheEnd) {
  end();
  EXPECT_TRUE(has_ended);
  begin(seven());
  ASSERT_TRUE(answer && !*answer);
  EXPECT_EQ(answer->error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace torchwatch::service
