#pragma once

#include <list>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

namespace torchwatch::async {

/// Lets a limited number through at a time; who came first goes first. Single-threaded, on
/// `executor`.
class Semaphore {
 public:
  /// Whoever holds it is through.
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

  /// Waits until there is a place and everybody who came before has one.
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
