#include "daemon/async/task_group.h"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "daemon/async/cancellation.h"

namespace torchwatch::async {
namespace asio = boost::asio;

TaskGroup::TaskGroup(asio::any_io_executor executor, Report report)
    : executor_{std::move(executor)},
      report_{std::move(report)},
      all_done_{executor_, asio::steady_timer::time_point::max()} {}

void TaskGroup::spawn(std::string name, asio::awaitable<void> task) {
  if (cancelled_) return;
  auto const self = running_.emplace(running_.end());
  auto finished = [this, self, name = std::move(name)](std::exception_ptr failure) {
    finish(self, name, std::move(failure));
  };
  asio::co_spawn(
      executor_, std::move(task), asio::bind_cancellation_slot(self->slot(), std::move(finished)));
}

void TaskGroup::finish(Running::iterator task,
                       std::string const& name,
                       std::exception_ptr failure) {
  running_.erase(task);
  if (running_.empty()) all_done_.cancel();
  if (failure && !(cancelled_ && is_cancellation(failure))) report_(name, failure);
}

void TaskGroup::cancel(asio::cancellation_type kind) {
  cancelled_ = true;
  // A signal may end its task, which then leaves the list.
  for (auto task = running_.begin(); task != running_.end();)
    (task++)->emit(kind);
}

asio::awaitable<void> TaskGroup::join() {
  while (!running_.empty()) {
    [[maybe_unused]] auto const [woken] =
        co_await all_done_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

}  // namespace torchwatch::async
