#pragma once

#include <chrono>
#include <utility>

#include <boost/asio/awaitable.hpp>

namespace torchwatch::async {

/// Counts steps that a stop should not interrupt, and lets no new one begin once a stop is
/// requested. Single-threaded. Must outlive its steps.
class Drain {
 public:
  /// A step, from its beginning until this is destroyed.
  class Step {
   public:
    explicit Step(Drain& drain) : drain_{&drain} { ++drain.steps_; }

    Step(Step&& other) noexcept : drain_{std::exchange(other.drain_, nullptr)} {}

    Step(Step const&) = delete;
    Step& operator=(Step const&) = delete;
    Step& operator=(Step&&) = delete;

    ~Step() {
      if (drain_ != nullptr) --drain_->steps_;
    }

   private:
    Drain* drain_;
  };

  Drain() = default;
  Drain(Drain const&) = delete;
  Drain& operator=(Drain const&) = delete;
  ~Drain() = default;

  /// Begins a step. After close() it waits for ever: only cancellation ends it.
  boost::asio::awaitable<Step> enter();

  /// Lets no step begin from now on.
  void close() { is_closed_ = true; }

  /// The number of steps that have begun and not ended.
  int steps() const { return steps_; }

 private:
  bool is_closed_ = false;
  int steps_ = 0;
};

}  // namespace torchwatch::async
