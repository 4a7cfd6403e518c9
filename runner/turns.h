#pragma once

#include <cstddef>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

namespace torchwatch::runner {

/// Which of several workers may work: one at a time, there and back (0 1 2, 2 1 0, 0 1 2, ...), so
/// that a host that gets steadily slower or faster does the same to all. The turn waits for whoever
/// it has come to. Single-threaded.
class Turns {
 public:
  Turns(boost::asio::any_io_executor const& executor, std::size_t count);

  /// Gives back the turn that `who` has, if it has it, and returns when it has the next one.
  boost::asio::awaitable<void> take(std::size_t who);

  /// `who` takes no turns any more.
  void leave(std::size_t who) noexcept;

 private:
  std::size_t whose() const;
  void pass_on();

  std::vector<bool> present_;
  std::size_t position_ = 0;  // on the way there and back
  bool taken_ = false;
  boost::asio::steady_timer moved_;  // never expires; cancelled to wake whoever waits
};

/// Leaves at the end of its scope.
class Seat {
 public:
  Seat(Turns& turns, std::size_t who) : turns_{turns}, who_{who} {}

  Seat(Seat const&) = delete;
  Seat& operator=(Seat const&) = delete;

  ~Seat() { turns_.leave(who_); }

  boost::asio::awaitable<void> take() { return turns_.take(who_); }

 private:
  Turns& turns_;
  std::size_t who_;
};

}  // namespace torchwatch::runner
