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
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "daemon/async/stoppable.h"
#include "daemon/async/task_group.h"
#include "daemon/bisection/bisector.h"
#include "daemon/builds/git_fetch.h"
#include "storage/store.h"

namespace torchwatch::bisection {

/// The queue of requested bisections: accepts them, runs them side by side, and applies a user's
/// pause, resume or cancel. Builder and fleets serve them in turn. None runs twice at a time.
/// Single-threaded.
class Queue {
 public:
  /// All arguments must outlive it.
  Queue(boost::asio::any_io_executor executor,
        config::SourceOptions const& source,
        storage::Store& store,
        Clock const& clock,
        builds::GitFetch& git_fetch,
        Bisector& bisector);

  /// Accepts a user's request, and fetches its ends if they are missing. If an equal one has not
  /// ended, even a paused one, returns that instead, so a request can be sent again. Equal requests
  /// have the same incident, or none. The first bisection of an incident is the pipeline's own: an
  /// earlier request belongs to no incident.
  ///
  /// invalid_argument: nothing makes builds of commits here, or start and end are not two commits
  /// of one line.
  boost::asio::awaitable<Result<Bisection>> ask(BisectionOrder order);

  /// Pauses a bisection, cancels it, or resumes it (`queued`). Stores that, and applies it
  /// immediately, at any point where it waits. Resuming a running one changes nothing. Fails with
  /// not_found for an unknown id, with refused for a bisection that has ended.
  Result<Bisection> steer(BisectionId id, BisectionState state);

  /// Runs a bisection to its end, or until a user pauses or cancels it. Returns it as it is stored
  /// then. If start() has started it, awaits that.
  boost::asio::awaitable<Result<Bisection>> run(BisectionId bisection);

  /// Starts all bisections that do not run yet. Leaves to the pipeline the first of an incident
  /// that is not bisected yet, and those into merges. One that cannot continue now is started by
  /// the next call. One into a merge starts when the bisection that found the merge ends.
  void start();

  /// Returns when all that start() started have ended.
  boost::asio::awaitable<void> join() { return group_.join(); }

  /// Stops immediately those that start() started, as SIGTERM does, and returns when they have
  /// ended. Nothing can be started after that.
  boost::asio::awaitable<void> end();

 private:
  /// A bisection that runs: stops it, and wakes those that wait for its end.
  struct Task {
    explicit Task(boost::asio::any_io_executor const& executor)
        : ended{executor, boost::asio::steady_timer::time_point::max()} {}

    async::Stoppable stoppable;
    boost::asio::steady_timer ended;  ///< never expires; destroyed at the end
  };

  class Running;

  boost::asio::awaitable<void> run_alone(Bisection bisection,
                                         std::shared_ptr<Running const> running);
  boost::asio::awaitable<void> end_of(BisectionId bisection);
  boost::asio::awaitable<Result<Bisection>> carry(Running const& running, Bisection bisection);
  boost::asio::awaitable<Result<std::vector<Commit>>> span_of(BisectionRequest request);
  bool is_in_the_pipeline(IncidentId incident) const;
  std::optional<IncidentId> adopted_by(std::optional<IncidentId> incident) const;
  bool is_for_the_pipeline(Bisection const& bisection) const;
  void obey(Bisection const& bisection);

  config::SourceOptions const& source_;
  storage::Store& store_;
  Clock const& clock_;
  builds::GitFetch& git_fetch_;
  Bisector& bisector_;
  boost::asio::any_io_executor executor_;
  std::map<std::int64_t, Task> running_;  // by id
  async::TaskGroup group_;
};

/// Runs `task`. All bisections have ended when this returns or throws.
template <class T>
boost::asio::awaitable<T> ending_bisections(Queue& queue, boost::asio::awaitable<T> task) {
  std::optional<T> result;
  std::exception_ptr failure;
  try {
    result = co_await std::move(task);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
  co_await queue.end();
  if (failure) std::rethrow_exception(failure);
  co_return std::move(*result);
}

}  // namespace torchwatch::bisection
