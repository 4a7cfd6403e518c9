#include "daemon/service/watch.h"

#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <spdlog/spdlog.h>

#include "daemon/report/rulings.h"

namespace torchwatch::service {
namespace asio = boost::asio;

asio::awaitable<int> Watch::run() {
  health_reporter_.start();
  return bisection::ending_bisections(service_.parts.queue, pass_for_ever());
}

asio::awaitable<Result<Bisection>> Watch::ask(BisectionOrder order) {
  auto const asked = co_await service_.parts.queue.ask(std::move(order));
  if (asked) service_.parts.queue.start();
  co_return asked;
}

asio::awaitable<Result<Bisection>> Watch::steer(BisectionId id, BisectionState state) {
  co_return service_.parts.queue.steer(id, state);
}

asio::awaitable<Result<std::vector<KeptBuild>>> Watch::request_build(builds::BuildRequest request) {
  auto done = builds::carry_out(request, service_.parts.kept, store_, clock_.now());
  bool const is_to_come = request.action == builds::BuildAction::fetch && done && done->empty();
  if (is_to_come) rest_.cancel();
  co_return done;
}

asio::awaitable<Result<Ruling>> Watch::rule(Ruling ruling) {
  co_return report::give_ruling(store_, std::move(ruling), clock_.now());
}

asio::awaitable<int> Watch::pass_for_ever() {
  while (true) {
    co_await pass();
    rest_.expires_after(options_.feed.poll);
    co_await rest_.async_wait(asio::as_tuple(asio::use_awaitable));  // or until it is cancelled
  }
}

/// A failed pass is logged and repeated after the usual rest; only cancellation passes through.
asio::awaitable<void> Watch::pass() {
  std::string failure;
  try {
    auto const passed = co_await service_.parts.pass();
    if (!passed) failure = passed.error().message;
  } catch (boost::system::system_error const& problem) {
    if (problem.code() == asio::error::operation_aborted) throw;
    failure = problem.what();
  } catch (std::exception const& problem) {
    failure = problem.what();
  }
  if (!failure.empty()) spdlog::error("pass_failed reason=\"{}\"", failure);
  health_reporter_.note_pass(clock_.now(), std::move(failure));
}

}  // namespace torchwatch::service
