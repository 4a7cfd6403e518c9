#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runner/turn_order.h"

namespace torchwatch::runner {

/// Gives turns to several workers, one at a time, pass by pass. In a pass each worker has one turn.
/// The order is drawn from the seed of their round, so that no rhythm of the host matches it. A
/// worker that is last in a pass and first in the next works twice in a row. A turn waits until its
/// worker takes it. Single-threaded.
class Turns {
 public:
  Turns(boost::asio::any_io_executor const& executor, std::size_t count, std::uint32_t seed);

  /// Returns the turn that worker `who` has, if any, and waits for its next one.
  boost::asio::awaitable<void> take(std::size_t who);

  /// Ends the turns of worker `who`. The order of the others stays as drawn.
  void leave(std::size_t who) noexcept;

 private:
  std::size_t whose() const { return pass_[position_]; }

  void step();
  void pass_on();

  std::vector<bool> present_;
  TurnOrder order_of_turns_;
  std::vector<std::size_t> pass_;  // the workers in the order of their turns
  std::size_t position_ = 0;       // in the pass
  bool taken_ = false;
  boost::asio::steady_timer moved_;  // never expires; cancelled to wake waiting workers
};

/// The share of one worker in the turns. Leaves the turns at the end of its scope.
class TurnSlot {
 public:
  TurnSlot(Turns& turns, std::size_t who) : turns_{turns}, who_{who} {}

  TurnSlot(TurnSlot const&) = delete;
  TurnSlot& operator=(TurnSlot const&) = delete;

  ~TurnSlot() { turns_.leave(who_); }

  boost::asio::awaitable<void> take() { return turns_.take(who_); }

 private:
  Turns& turns_;
  std::size_t who_;
};

}  // namespace torchwatch::runner
