#pragma once

#include <csignal>
#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

namespace torchwatch::async {

/// Runs `task` on `loop` until it returns, and stops the loop then. SIGINT and SIGTERM cancel it;
/// what it throws is thrown here, cancellation included (boost::system::system_error with
/// operation_aborted).
template <class T>
T run_until_signal(boost::asio::io_context& loop, boost::asio::awaitable<T> task) {
  namespace asio = boost::asio;
  asio::signal_set signals{loop, SIGINT, SIGTERM};
  asio::cancellation_signal cancel;
  signals.async_wait([&cancel](boost::system::error_code problem, int) {
    if (!problem) cancel.emit(asio::cancellation_type::terminal);
  });
  std::optional<T> result;
  std::exception_ptr failure;
  auto finished = [&](std::exception_ptr thrown, T value) {
    failure = thrown;
    result = std::move(value);
    loop.stop();  // what still waits there, runners' output for one, waits for ever
  };
  asio::co_spawn(
      loop, std::move(task), asio::bind_cancellation_slot(cancel.slot(), std::move(finished)));
  loop.run();
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

}  // namespace torchwatch::async
