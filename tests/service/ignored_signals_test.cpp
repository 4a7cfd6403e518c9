#include "daemon/service/ignored_signals.h"

#include <chrono>
#include <csignal>
#include <initializer_list>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <gmock/gmock.h>

#include "daemon/async/run_until_signal.h"
#include "tests/captured_log.h"

namespace torchwatch::service {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Waits until it is cancelled.
asio::awaitable<int> serve_for_ever() {
  auto const executor = co_await asio::this_coro::executor;
  asio::steady_timer rest{executor, asio::steady_timer::time_point::max()};
  co_await rest.async_wait(asio::use_awaitable);
  co_return 0;
}

/// A task that runs with a service's signal handlers, as in serve().
class IgnoredSignalsTest : public testing::Test {
 protected:
  /// Raises the signals a moment after the task began, and SIGTERM after them. True when SIGTERM
  /// cancelled the task.
  bool is_cancelled_after(std::initializer_list<int> signals) {
    for (int const signal : signals)
      asio::post(loop_, [signal] { ::raise(signal); });
    asio::steady_timer end{loop_, 100ms};
    end.async_wait([](boost::system::error_code) { ::raise(SIGTERM); });
    try {
      async::run_until_signal(loop_, serve_for_ever());
      return false;
    } catch (boost::system::system_error const& stopped) {
      return stopped.code() == asio::error::operation_aborted;
    }
  }

  tests::CapturedLog log_;
  asio::io_context loop_{1};
  IgnoredSignals const ignored_{loop_};
};

TEST_F(IgnoredSignalsTest, SighupIsLoggedEachTimeAndTheServiceGoesOnUntilSigterm) {
  asio::steady_timer again{loop_, 50ms};
  again.async_wait([](boost::system::error_code) { ::raise(SIGHUP); });
  EXPECT_TRUE(is_cancelled_after({SIGHUP}));
  EXPECT_THAT(log_.lines_with("signal_ignored signal=SIGHUP"), SizeIs(2));
  EXPECT_THAT(log_.text(), HasSubstr("reloading is not supported yet"));
}

TEST_F(IgnoredSignalsTest, Sigusr1IsNotEvenLogged) {
  EXPECT_TRUE(is_cancelled_after({SIGUSR1, SIGUSR1}));
  EXPECT_THAT(log_.text(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::service
