#include "runner/turns.h"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace torchwatch::runner {

namespace asio = boost::asio;

Turns::Turns(asio::any_io_executor const& executor, std::size_t count, std::uint32_t seed)
    : present_(count, true),
      order_of_turns_{seed, Drawn::passes, count},
      pass_{order_of_turns_.next()},
      moved_{executor, asio::steady_timer::time_point::max()} {}

asio::awaitable<void> Turns::take(std::size_t who) {
  if (taken_ && whose() == who) pass_on();
  auto const state = co_await asio::this_coro::cancellation_state;
  while (taken_ || whose() != who) {
    co_await moved_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (state.cancelled() != asio::cancellation_type::none)
      throw boost::system::system_error{asio::error::operation_aborted};
  }
  taken_ = true;
}

void Turns::leave(std::size_t who) noexcept {
  bool const had_it = taken_ && whose() == who;
  bool const is_next = !taken_ && whose() == who;
  present_[who] = false;
  if (had_it || is_next) pass_on();
}

void Turns::step() {
  if (++position_ < pass_.size()) return;
  pass_ = order_of_turns_.next();
  position_ = 0;
}

void Turns::pass_on() {
  taken_ = false;
  if (std::ranges::find(present_, true) == present_.end()) return;
  do {
    step();
  } while (!present_[whose()]);
  moved_.cancel();
}

}  // namespace torchwatch::runner
