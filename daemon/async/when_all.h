#pragma once

#include <exception>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace torchwatch::async {

/// Runs all tasks side by side on the caller's executor. Returns their results, in their order,
/// when all have ended. The first exception cancels the others and is thrown. T must have a default
/// constructor.
template <class T>
boost::asio::awaitable<std::vector<T>> when_all(std::vector<boost::asio::awaitable<T>> tasks) {
  namespace asio = boost::asio;
  if (tasks.empty()) co_return std::vector<T>{};
  auto const executor = co_await asio::this_coro::executor;
  using Operation =
      decltype(asio::co_spawn(executor, std::declval<asio::awaitable<T>>(), asio::deferred));
  std::vector<Operation> operations;
  for (auto& task : tasks)
    operations.push_back(asio::co_spawn(executor, std::move(task), asio::deferred));
  auto group = asio::experimental::make_parallel_group(std::move(operations));
  auto [order, failures, results] =
      co_await group.async_wait(asio::experimental::wait_for_one_error(), asio::use_awaitable);
  for (auto const first : order)
    if (failures[first]) std::rethrow_exception(failures[first]);
  co_return std::move(results);
}

}  // namespace torchwatch::async
