#pragma once

#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "daemon/async/cancellation.h"

namespace torchwatch::async {

/// Runs a task that can be stopped without ending the coroutine that awaits it. One task at a time.
/// Single-threaded: every call is made on the executor of that coroutine. Must outlive run().
class Stoppable {
 public:
  Stoppable() = default;
  Stoppable(Stoppable const&) = delete;
  Stoppable& operator=(Stoppable const&) = delete;
  ~Stoppable() = default;

  /// Returns the result of `task`, or nothing when stop() ended it. Throws any other exception of
  /// the task, also when the caller was cancelled, which cancels the task as well.
  template <class T>
  boost::asio::awaitable<std::optional<T>> run(boost::asio::awaitable<T> task) {
    namespace asio = boost::asio;
    is_stopped_ = false;
    auto const executor = co_await asio::this_coro::executor;
    auto const caller = co_await asio::this_coro::cancellation_state;
    auto forward = [this](asio::cancellation_type kind) {
      signal_.emit(kind);
    };
    // The task is given our slot instead of the caller's. Asio empties that one when the task ends.
    bool const can_be_cancelled = caller.slot().is_connected();
    if (can_be_cancelled && caller.cancelled() == asio::cancellation_type::none)
      caller.slot().assign(forward);
    auto token = asio::bind_cancellation_slot(signal_.slot(), asio::as_tuple(asio::use_awaitable));
    auto [failure, result] = co_await asio::co_spawn(executor, std::move(task), std::move(token));
    signal_.slot().clear();
    if (!failure) co_return std::move(result);
    if (!is_stopped_ || !is_cancellation(failure)) std::rethrow_exception(failure);
    co_return std::nullopt;
  }

  /// Cancels the running task, if there is one. A task that is about to return still returns.
  void stop() {
    is_stopped_ = true;
    signal_.emit(boost::asio::cancellation_type::terminal);
  }

 private:
  boost::asio::cancellation_signal signal_;
  bool is_stopped_ = false;
};

}  // namespace torchwatch::async
