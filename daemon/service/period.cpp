#include "daemon/service/period.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

#include "daemon/async/cancellation.h"

namespace torchwatch::service {
namespace asio = boost::asio;

namespace {

/// Returns the requests of the HTTP API, which run on the watch loop. All must outlive it.
api::Requests requests_for(asio::io_context& loop, RunningRequests& running, Watch& watch) {
  api::Requests requests;
  requests.bisection = [&](BisectionOrder order) -> asio::awaitable<Result<Bisection>> {
    auto task = running.run(watch.ask(std::move(order)));
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  requests.steering = [&](BisectionId id,
                          BisectionState state) -> asio::awaitable<Result<Bisection>> {
    auto task = running.run(watch.steer(id, state));
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  requests.build_action =
      [&](builds::BuildRequest request) -> asio::awaitable<Result<std::vector<KeptBuild>>> {
    auto task = running.run(watch.request_build(std::move(request)));
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  requests.ruling = [&](Ruling ruling) -> asio::awaitable<Result<Ruling>> {
    auto task = running.run(watch.rule(std::move(ruling)));
    co_return co_await asio::co_spawn(loop, std::move(task), asio::use_awaitable);
  };
  return requests;
}

/// Logs each error of a configuration as one line.
void log_refusal(Error const& error) {
  auto const lines = error.message;
  for (std::size_t begin = 0; begin <= lines.size();) {
    auto const end = std::min(lines.find('\n', begin), lines.size());
    spdlog::error("reload_refused reason=\"{}\"", lines.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

Period::Period(LastingParts& lasting,
               CheckedConfiguration configuration,
               std::unique_ptr<asio::io_context> answering,
               http::Endpoint endpoint,
               Patience patience)
    : lasting_{lasting},
      patience_{patience},
      options_{std::move(configuration.options)},
      answering_loop_{std::move(answering)},
      watch_{loop_.get_executor(),
             options_,
             lasting.executable,
             lasting.store,
             lasting.checkup,
             lasting.manager,
             health_},
      requests_{loop_.get_executor()},
      answering_{*answering_loop_,
                 std::move(endpoint),
                 options_,
                 std::move(configuration.tokens),
                 lasting.reader,
                 health_,
                 watch_.counters(),
                 requests_for(loop_, requests_, watch_)} {}

Period::~Period() {
  lasting_.signals.keep();
}

std::optional<CheckedConfiguration> Period::run() {
  std::exception_ptr failure;
  auto finished = [&](std::exception_ptr thrown) {
    failure = std::move(thrown);
    loop_.stop();  // what still waits there, runners' output for one, waits for ever
  };
  asio::co_spawn(loop_, watch(), asio::bind_cancellation_slot(cancel_.slot(), std::move(finished)));
  lasting_.signals.deliver_to([this](SignalRequest request) {
    ++(request == SignalRequest::stop ? stops_ : reloads_);
    asio::post(loop_, [this, request] { receive(request); });
  });
  loop_.run();
  lasting_.signals.keep();
  if (failure && !async::is_cancellation(failure)) std::rethrow_exception(failure);
  if (stops_ > 0) next_.reset();  // it came last, and was not received any more
  if (!next_) lasting_.listener.reset();
  if (next_ && reloads_ > 0) lasting_.signals.keep(SignalRequest::reload);
  return std::move(next_);
}

/// Runs the watch loop. Ends the requests with it, because they use its parts.
asio::awaitable<void> Period::watch() {
  std::exception_ptr failure;
  try {
    co_await watch_.run();
  } catch (...) {
    failure = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await requests_.end();
  if (failure) std::rethrow_exception(failure);
}

void Period::receive(SignalRequest request) {
  --(request == SignalRequest::stop ? stops_ : reloads_);
  if (request == SignalRequest::stop) {
    is_stopping_ = true;
    next_.reset();
    end_within(patience_.at_stop, "stop");
  } else if (!is_stopping_) {
    reload();
  }
}

/// Prepares to use the configuration of the file. An invalid one changes nothing.
void Period::reload() {
  try {
    auto next = read_next();
    if (!next) return log_refusal(next.error());
    next_.emplace(std::move(*next));
  } catch (std::exception const& problem) {
    return log_refusal(Error{ErrorCode::unavailable, problem.what()});
  }
  end_within(patience_.at_reload, "reload");
}

/// Reads the configuration, and checks all that the next period needs at its beginning.
Result<CheckedConfiguration> Period::read_next() {
  auto options = lasting_.file.load();
  if (!options) return options.error();
  auto const writable = lasting_.store.try_to_write();
  if (!writable) return within("state_dir", writable.error());
  // An earlier reload of this period may listen at the address already.
  bool const is_listening =
      next_ && next_->listener && is_same_address(next_->options.http, options->http);
  auto checked = check_changed_configuration(
      std::move(*options), is_listening ? next_->options : options_, lasting_.sockets);
  if (!checked) return checked;
  lasting_.store.record_metrics();
  if (is_listening) checked->listener.emplace(std::move(*next_->listener));
  return checked;
}

void Period::end_within(std::chrono::milliseconds patience, std::string const& reason) {
  auto const end = Steady::now() + patience;
  deadline_ = is_ending_ ? std::min(deadline_, end) : end;
  spdlog::info("service_draining reason={} steps={}", reason, watch_.running_steps());
  if (is_ending_) return;
  is_ending_ = true;
  watch_.hold_new_steps();
  asio::co_spawn(loop_, finish_steps(), asio::detached);
}

asio::awaitable<void> Period::finish_steps() {
  constexpr std::chrono::milliseconds pause{50};
  asio::steady_timer timer{loop_};
  while (watch_.running_steps() > 0 && Steady::now() < deadline_) {
    timer.expires_after(pause);
    co_await timer.async_wait(asio::use_awaitable);
  }
  cancel_.emit(asio::cancellation_type::terminal);
}

}  // namespace torchwatch::service
