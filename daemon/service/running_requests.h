#pragma once

#include <list>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "daemon/async/stoppable.h"
#include "storage/base/result.h"

namespace torchwatch::service {

/// The requests of the HTTP API that run on the watch loop. They use its parts, so they end before
/// these do. Single-threaded, on that loop, except that run() may be called on any thread. Must
/// outlive its requests.
class RunningRequests {
 public:
  explicit RunningRequests(boost::asio::any_io_executor executor)
      : all_ended_{std::move(executor), boost::asio::steady_timer::time_point::max()} {}

  /// Returns the result of `task`. Fails with unavailable when end() stopped it, or came before.
  template <class T>
  boost::asio::awaitable<Result<T>> run(boost::asio::awaitable<Result<T>> task) {
    if (is_ending_) co_return stopped();
    Entry const entry{*this};
    auto ended = co_await entry.place->run(std::move(task));
    if (!ended) co_return stopped();
    co_return std::move(*ended);
  }

  /// Stops all requests, and lets no other begin. Returns when none runs.
  boost::asio::awaitable<void> end() {
    namespace asio = boost::asio;
    is_ending_ = true;
    // A request may end at once, and leave the list.
    for (auto one = running_.begin(); one != running_.end();)
      (one++)->stop();
    while (!running_.empty()) {
      [[maybe_unused]] auto const [woken] =
          co_await all_ended_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

 private:
  /// The place of a request in the list, until it has ended.
  struct Entry {
    explicit Entry(RunningRequests& owner)
        : requests{owner},
          place{owner.running_.emplace(owner.running_.end())} {}

    Entry(Entry const&) = delete;
    Entry& operator=(Entry const&) = delete;

    ~Entry() {
      requests.running_.erase(place);
      if (requests.running_.empty()) requests.all_ended_.cancel();
    }

    RunningRequests& requests;
    std::list<async::Stoppable>::iterator place;
  };

  static Error stopped() {
    return Error{ErrorCode::unavailable,
                 "the service is stopping or uses another configuration from now on: try again"};
  }

  std::list<async::Stoppable> running_;
  boost::asio::steady_timer all_ended_;  // never expires; cancelled when the last request ends
  bool is_ending_ = false;
};

}  // namespace torchwatch::service
