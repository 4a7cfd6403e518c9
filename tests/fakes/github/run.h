#pragma once

#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

namespace torchwatch::fakes {

/// Runs one coroutine to its end on a new loop. Returns its result.
template <class T>
T run(boost::asio::awaitable<T> task) {
  boost::asio::io_context loop;
  auto result = boost::asio::co_spawn(loop, std::move(task), boost::asio::use_future);
  loop.run();
  return result.get();
}

}  // namespace torchwatch::fakes
