#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runner/turn_order.h"

namespace torchwatch::runner {

/// Which of several workers may work: one at a time, pass by pass. In a pass everybody has one
/// turn, in an order drawn from the seed of their round, so that no rhythm of the host falls in
/// with theirs; whoever is last in a pass and first in the next works twice in a row. The turn
/// waits for whoever it has come to. Single-threaded.
class Turns {
 public:
  Turns(boost::asio::any_io_executor const& executor, std::size_t count, std::uint32_t seed);

  /// Gives back the turn that `who` has, if it has it, and returns when it has the next one.
  boost::asio::awaitable<void> take(std::size_t who);

  /// `who` takes no turns any more, and is passed over: the order of the others stays as drawn.
  void leave(std::size_t who) noexcept;

 private:
  std::size_t whose() const { return pass_[position_]; }

  void step();
  void pass_on();

  std::vector<bool> present_;
  TurnOrder order_of_turns_;
  std::vector<std::size_t> pass_;  // who works when
  std::size_t position_ = 0;       // in the pass
  bool taken_ = false;
  boost::asio::steady_timer moved_;  // never expires; cancelled to wake whoever waits
};

/// One worker's place in the turns. Leaves at the end of its scope.
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
