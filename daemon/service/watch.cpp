#include "daemon/service/watch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <spdlog/spdlog.h>

#include "daemon/async/when_all.h"
#include "daemon/report/rulings.h"
#include "daemon/service/answer_loop.h"

namespace torchwatch::service {
namespace asio = boost::asio;

namespace {

/// Returns the reason why a task failed; empty when it did not. Only cancellation passes through.
asio::awaitable<std::string> failure_of(asio::awaitable<Result<>> task) {
  try {
    auto const done = co_await std::move(task);
    co_return done ? std::string{} : done.error().message;
  } catch (boost::system::system_error const& problem) {
    if (problem.code() == asio::error::operation_aborted) throw;
    co_return problem.what();
  } catch (std::exception const& problem) {
    co_return problem.what();
  }
}

}  // namespace

void Watch::hold_new_steps() {
  service_.rounds.steps().close();
  service_.parts.sender.steps().close();
}

int Watch::running_steps() {
  return service_.rounds.steps().steps() + service_.parts.sender.steps().steps();
}

asio::awaitable<int> Watch::run() {
  health_reporter_.start();
  service_.parts.sender.retry_now();
  return bisection::ending_bisections(service_.parts.queue, work_for_ever());
}

asio::awaitable<Result<Bisection>> Watch::ask(BisectionOrder order) {
  return service_.parts.ask(std::move(order));
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
  auto given = report::give_ruling(store_, std::move(ruling), clock_.now());
  if (given) service_.parts.life.advance();
  co_return given;
}

/// People are answered during a pass, which measures for hours.
asio::awaitable<int> Watch::work_for_ever() {
  std::vector<asio::awaitable<int>> tasks;
  tasks.push_back(pass_for_ever());
  tasks.push_back(answer_for_ever(service_.parts));
  auto const ended = co_await async::when_all(std::move(tasks));
  co_return ended.front();
}

asio::awaitable<int> Watch::pass_for_ever() {
  while (true) {
    co_await pass();
    co_await rest();
  }
}

/// Waits until the next pass, or until the timer is cancelled. Meanwhile, it sends again what
/// failed.
asio::awaitable<void> Watch::rest() {
  constexpr std::chrono::minutes between_messages{1};
  using Steady = std::chrono::steady_clock;
  auto const end = Steady::now() + options_.feed.poll;
  while (Steady::now() < end) {
    rest_.expires_at(std::min<Steady::time_point>(end, Steady::now() + between_messages));
    auto const [cancelled] = co_await rest_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (cancelled) co_return;
    auto const failure = co_await failure_of(service_.parts.sender.send_due());
    if (!failure.empty()) spdlog::error("sending_failed reason=\"{}\"", failure);
  }
}

/// A failed pass is logged and repeated after the usual rest.
asio::awaitable<void> Watch::pass() {
  auto failure = co_await failure_of(service_.parts.pass());
  if (!failure.empty()) spdlog::error("pass_failed reason=\"{}\"", failure);
  health_reporter_.note_pass(clock_.now(), std::move(failure));
}

}  // namespace torchwatch::service
