#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include "daemon/async/stoppable.h"
#include "daemon/async/task_group.h"
#include "daemon/bisecting.h"
#include "storage/store.h"

namespace torchwatch {

/// Runs searches side by side; fleet and builder serve them in turn. A search never runs twice at a
/// time. Single-threaded.
class Searching {
 public:
  /// `store` and `bisecting` must outlive it.
  Searching(boost::asio::any_io_executor executor, storage::Store& store, Bisecting& bisecting);

  /// Carries a search to its end, or to where somebody paused or cancelled it, and returns it as it
  /// is stored then.
  boost::asio::awaitable<Result<Bisection>> run(Bisection bisection);

  /// Starts all searches that nobody runs, but for those of incidents that are not searched yet:
  /// they belong to the pipeline. A search that cannot go on now is started by the next call.
  void start();

  /// Has a search obey the state that somebody gave it: one that is paused or cancelled ends at
  /// once, whatever it waits for, and any other goes on.
  void steer(BisectionId id);

  /// Returns when none runs that start() started.
  boost::asio::awaitable<void> join() { return group_.join(); }

  /// Ends those that start() started at once, as SIGTERM does, and returns when they have ended.
  /// Nothing can be started any more.
  boost::asio::awaitable<void> end();

 private:
  class Running;

  boost::asio::awaitable<void> run_alone(Bisection bisection,
                                         std::shared_ptr<Running const> running);
  boost::asio::awaitable<Result<Bisection>> carry(Running const& running, Bisection bisection);
  bool is_for_the_pipeline(Bisection const& bisection) const;

  storage::Store& store_;
  Bisecting& bisecting_;
  std::map<std::int64_t, Stoppable> running_;  // by id
  TaskGroup group_;
};

/// Runs `task`. However it ends, all searches have ended when this returns or throws.
template <class T>
boost::asio::awaitable<T> ending_searches(Searching& searching, boost::asio::awaitable<T> task) {
  std::optional<T> result;
  std::exception_ptr failure;
  try {
    result = co_await std::move(task);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
  co_await searching.end();
  if (failure) std::rethrow_exception(failure);
  co_return std::move(*result);
}

}  // namespace torchwatch
