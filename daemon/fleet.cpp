#include "daemon/fleet.h"

#include <chrono>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <spdlog/spdlog.h>

#include "daemon/async/watchdog.h"

namespace torchwatch {
namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds hello_limit{120};  // a cluster's scheduler may take a while
constexpr std::chrono::seconds grace{60};  // beyond the job's own limit, which the runner keeps

protocol::Failure lost(std::string const& job, std::string text) {
  return protocol::Failure{job, "lost", std::move(text)};
}

}  // namespace

Lease::~Lease() {
  if (fleet_ != nullptr) fleet_->release(slot_);
}

asio::awaitable<protocol::Message> Lease::run(protocol::Job job, OnProgress on_progress) {
  return fleet_->run(slot_, std::move(job), std::move(on_progress));
}

Fleet::Fleet(asio::any_io_executor executor, config::FleetOptions options, std::string executable)
    : executor_{std::move(executor)},
      options_{std::move(options)},
      executable_{std::move(executable)},
      runners_(static_cast<std::size_t>(options_.slots)),
      released_{executor_, asio::steady_timer::time_point::max()} {
  for (std::size_t slot = runners_.size(); slot > 0; --slot)
    idle_.push_back(slot - 1);
}

asio::awaitable<Lease> Fleet::lease() {
  while (idle_.empty())
    co_await released_.async_wait(asio::as_tuple(asio::use_awaitable));
  auto const slot = idle_.back();
  idle_.pop_back();
  co_return Lease{*this, slot};
}

void Fleet::release(std::size_t slot) {
  idle_.push_back(slot);
  released_.cancel_one();
}

asio::awaitable<Result<>> Fleet::start_runner(std::size_t slot) {
  runner::Command command;
  command.argv = options_.launcher;
  command.argv.insert(command.argv.end(), {executable_, "runner"});
  command.unset_env = {"GITHUB_TOKEN"};  // measuring hosts have no business with it
  auto started = runner::ChildProcess::start(executor_, std::move(command));
  if (!started) co_return started.error();
  auto& process = runners_[slot].emplace(std::move(*started));
  Watchdog const watchdog{executor_, hello_limit, process};
  auto const line = co_await process.read_line();
  if (!line) {
    co_return Error{ErrorCode::unavailable,
                    "runner ended before its hello: " + process.last_stderr()};
  }
  try {
    auto const message = protocol::decode(*line);
    auto const* hello = std::get_if<protocol::Hello>(&message);
    if (hello == nullptr || hello->protocol != protocol::version)
      co_return Error{ErrorCode::corrupt, "runner speaks another protocol: " + *line};
  } catch (protocol::ProtocolError const& problem) {
    co_return Error{ErrorCode::corrupt, std::string{"runner: "} + problem.what()};
  }
  spdlog::debug("runner_started fleet={} slot={} pid={}", options_.name, slot, process.pid());
  co_return Result<>{};
}

asio::awaitable<protocol::Message> Fleet::run(std::size_t slot,
                                              protocol::Job job,
                                              Lease::OnProgress on_progress) {
  auto const id = job.id;
  if (!runners_[slot]) {
    auto const started = co_await start_runner(slot);
    if (!started) {
      runners_[slot].reset();
      co_return lost(id, started.error().message);
    }
  }
  auto& process = *runners_[slot];
  auto const limit = std::chrono::duration<double>{job.limits.timeout_s} + grace;
  Watchdog const watchdog{executor_, limit, process};
  auto line = protocol::encode(std::move(job));
  auto const written = co_await process.write_line(std::move(line));
  std::string reason = written ? "" : written.error().message;
  while (reason.empty()) {
    auto const answer = co_await process.read_line();
    if (!answer && answer.error().code == ErrorCode::cancelled)
      throw boost::system::system_error{asio::error::operation_aborted};
    if (!answer) {
      reason = "runner vanished: " + answer.error().message + " " + process.last_stderr();
      break;
    }
    try {
      auto message = protocol::decode(*answer);
      if (auto const* progress = std::get_if<protocol::Progress>(&message)) {
        on_progress(*progress);
        continue;
      }
      auto const* outcome = std::get_if<protocol::Outcome>(&message);
      auto const* failure = std::get_if<protocol::Failure>(&message);
      if ((outcome != nullptr && outcome->id == id) || (failure != nullptr && failure->id == id))
        co_return message;
      reason = "runner answered out of turn";
    } catch (protocol::ProtocolError const& problem) {
      reason = std::string{"runner: "} + problem.what();
    }
  }
  runners_[slot].reset();
  co_return lost(id, std::move(reason));
}

}  // namespace torchwatch
