#include "daemon/async/semaphore.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace torchwatch::async {
namespace asio = boost::asio;

asio::awaitable<Semaphore::Pass> Semaphore::enter() {
  if (places_ > 0) {
    --places_;
    co_return Pass{*this};
  }
  auto const never = asio::steady_timer::time_point::max();
  auto const self = waiting_.insert(waiting_.end(), {asio::steady_timer{executor_, never}, false});
  co_await self->called.async_wait(asio::as_tuple(asio::use_awaitable));
  bool const has_place = self->has_place;
  waiting_.erase(self);
  // No call came: the caller has cancelled the wait.
  if (!has_place) throw boost::system::system_error{asio::error::operation_aborted};
  co_return Pass{*this};
}

void Semaphore::leave() {
  for (auto& waiting : waiting_) {
    if (waiting.has_place) continue;
    waiting.has_place = true;
    waiting.called.cancel();
    return;
  }
  ++places_;
}

}  // namespace torchwatch::async
