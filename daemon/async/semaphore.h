#pragma once

#include <list>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

namespace torchwatch::async {

/// Lets a limited number of tasks run at a time, in the order of their requests. Single-threaded,
/// on `executor`.
class Semaphore {
 public:
  /// The permission to run, until it is destroyed.
  class Pass {
   public:
    explicit Pass(Semaphore& semaphore) : semaphore_{&semaphore} {}

    Pass(Pass&& other) noexcept : semaphore_{std::exchange(other.semaphore_, nullptr)} {}

    Pass(Pass const&) = delete;
    Pass& operator=(Pass const&) = delete;
    Pass& operator=(Pass&&) = delete;

    ~Pass() {
      if (semaphore_ != nullptr) semaphore_->leave();
    }

   private:
    Semaphore* semaphore_;
  };

  Semaphore(boost::asio::any_io_executor executor, int places)
      : executor_{std::move(executor)},
        places_{places} {}

  /// Waits until there is a place and all earlier callers have one.
  boost::asio::awaitable<Pass> enter();

 private:
  struct Waiting {
    boost::asio::steady_timer called;  // never expires; cancelled to call
    bool has_place = false;
  };

  void leave();

  boost::asio::any_io_executor executor_;
  int places_;
  std::list<Waiting> waiting_;
};

}  // namespace torchwatch::async
