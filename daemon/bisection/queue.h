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

/// Bisections that were asked for: takes them in, runs them side by side, and has them obey when
/// somebody pauses, resumes or cancels one. Builder and fleets serve them in turn. None runs twice
/// at a time. Single-threaded.
class Queue {
 public:
  /// All arguments must outlive it.
  Queue(boost::asio::any_io_executor executor,
        config::SourceOptions const& source,
        storage::Store& store,
        Clock const& clock,
        builds::GitFetch& git_fetch,
        Bisector& bisector);

  /// Takes in what a person asks for, and fetches its ends if need be. An equal one that has not
  /// ended, even a paused one, is returned instead, so a request may be sent again. Equal ones are
  /// of the same incident, or of none. The first of an incident is the pipeline's own: what is
  /// asked for before that belongs to no incident. invalid_argument when commits cannot be built
  /// here, or when start and end are not two commits of one line.
  boost::asio::awaitable<Result<Bisection>> ask(BisectionOrder order);

  /// Pauses a bisection, cancels it, or resumes it (`queued`): stores that, and has it obey at
  /// once, whatever it waits for. One that runs need not be resumed, and stays as it is. not_found
  /// when nobody knows it, refused when it has ended.
  Result<Bisection> steer(BisectionId id, BisectionState state);

  /// Carries a bisection to its end, or to where somebody paused or cancelled it, and returns it as
  /// it is stored then. One that start() has started is awaited.
  boost::asio::awaitable<Result<Bisection>> run(BisectionId bisection);

  /// Starts all that do not run yet, but for the first of an incident that is not bisected yet and
  /// those into merges: they belong to the pipeline. One that cannot go on now is started by the
  /// next call; one into a merge that another one found, when that ends.
  void start();

  /// Returns when none runs that start() started.
  boost::asio::awaitable<void> join() { return group_.join(); }

  /// Ends those that start() started at once, as SIGTERM does, and returns when they have ended.
  /// Nothing can be started any more.
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

/// Runs `task`. However it ends, all bisections have ended when this returns or throws.
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
