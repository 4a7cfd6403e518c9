#include "daemon/async/drain.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace torchwatch::async {
namespace asio = boost::asio;

asio::awaitable<Drain::Step> Drain::enter() {
  if (is_closed_) {
    auto const executor = co_await asio::this_coro::executor;
    asio::steady_timer never{executor, asio::steady_timer::time_point::max()};
    co_await never.async_wait(asio::use_awaitable);
  }
  co_return Step{*this};
}

}  // namespace torchwatch::async
