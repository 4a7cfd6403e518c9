#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace torchwatch::tests {

/// Runs `task` on `loop` until it ends, and returns its result. Throws its exception, or when it
/// takes too long for a test.
template <class T>
T run(boost::asio::io_context& loop, boost::asio::awaitable<T> task) {
  std::optional<T> returned;
  std::exception_ptr thrown;
  auto on_end = [&](std::exception_ptr failure, T value) {
    thrown = failure;
    returned = std::move(value);
    loop.stop();
  };
  boost::asio::co_spawn(loop, std::move(task), on_end);
  loop.restart();
  loop.run_for(std::chrono::seconds{30});
  if (!returned) throw std::runtime_error("a test's coroutine did not end");
  if (thrown) std::rethrow_exception(thrown);
  return std::move(*returned);
}

}  // namespace torchwatch::tests
