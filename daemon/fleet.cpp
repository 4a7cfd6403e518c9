#include "daemon/fleet.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <spdlog/spdlog.h>

#include "daemon/async/watchdog.h"

namespace torchwatch {
namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds hello_limit{120};  // a cluster's scheduler may take a while
constexpr std::chrono::seconds grace{60};  // beyond the job's own limit, which the runner keeps

/// The answers to a round while they come in.
class Answers {
 public:
  explicit Answers(protocol::Round const& round) {
    for (auto const& job : round.jobs)
      ids_.push_back(job.id);
    answers_.resize(ids_.size());
  }

  bool complete() const {
    return std::ranges::all_of(answers_, [](auto const& answer) { return answer.has_value(); });
  }

  /// False when nobody waits for it.
  bool take(protocol::Message message) {
    auto const* const outcome = std::get_if<protocol::Outcome>(&message);
    auto const* const failure = std::get_if<protocol::Failure>(&message);
    if (outcome == nullptr && failure == nullptr) return false;
    auto const& id = outcome != nullptr ? outcome->id : failure->id;
    auto const place = static_cast<std::size_t>(std::ranges::find(ids_, id) - ids_.begin());
    if (place == ids_.size() || answers_[place]) return false;
    answers_[place] = std::move(message);
    return true;
  }

  /// What did not come is lost, for `reason`.
  std::vector<protocol::Message> all(std::string const& reason) && {
    std::vector<protocol::Message> messages;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (!answers_[i]) answers_[i] = protocol::Failure{ids_[i], "lost", reason};
      messages.push_back(std::move(*answers_[i]));
    }
    return messages;
  }

 private:
  std::vector<std::string> ids_;
  std::vector<std::optional<protocol::Message>> answers_;
};

/// Ends a runner that was left in the middle of a round: the next one would get its answers.
class Conversation {
 public:
  explicit Conversation(std::optional<runner::ChildProcess>& runner) : runner_{runner} {}

  Conversation(Conversation const&) = delete;
  Conversation& operator=(Conversation const&) = delete;

  ~Conversation() {
    if (!is_over_) runner_.reset();
  }

  /// Everything was said.
  void end() { is_over_ = true; }

 private:
  std::optional<runner::ChildProcess>& runner_;
  bool is_over_ = false;
};

void throw_if_cancelled(Error const& error) {
  if (error.code == ErrorCode::cancelled)
    throw boost::system::system_error{asio::error::operation_aborted};
}

}  // namespace

std::string const& Lease::fleet() const {
  return fleet_->name();
}

Lease::~Lease() {
  if (fleet_ != nullptr) fleet_->idle_.push_back(slot_);
}

asio::awaitable<std::vector<protocol::Message>> Lease::run(protocol::Round round,
                                                           OnProgress on_progress) {
  return fleet_->run(slot_, std::move(round), std::move(on_progress));
}

Fleet::Fleet(asio::any_io_executor executor, config::FleetOptions options, std::string executable)
    : executor_{std::move(executor)},
      options_{std::move(options)},
      executable_{std::move(executable)},
      runners_(static_cast<std::size_t>(options_.slots)),
      gate_{executor_, options_.slots} {
  for (std::size_t slot = runners_.size(); slot > 0; --slot)
    idle_.push_back(slot - 1);
}

asio::awaitable<Lease> Fleet::lease() {
  auto pass = co_await gate_.enter();
  auto const slot = idle_.back();
  idle_.pop_back();
  co_return Lease{*this, slot, std::move(pass)};
}

asio::awaitable<Result<>> Fleet::start_runner(std::size_t slot) {
  runner::Command command;
  command.argv = options_.launcher;
  command.argv.insert(command.argv.end(), {executable_, "runner", "--slot", std::to_string(slot)});
  command.unset_env = {"GITHUB_TOKEN"};  // measuring hosts have no business with it
  auto started = runner::ChildProcess::start(executor_, std::move(command));
  if (!started) co_return started.error();
  auto& process = runners_[slot].emplace(std::move(*started));
  Watchdog const watchdog{executor_, hello_limit, process};
  auto const line = co_await process.read_line();
  if (!line) {
    throw_if_cancelled(line.error());
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

asio::awaitable<std::vector<protocol::Message>> Fleet::run(std::size_t slot,
                                                           protocol::Round round,
                                                           Lease::OnProgress on_progress) {
  Answers answers{round};
  Conversation conversation{runners_[slot]};
  if (!runners_[slot]) {
    auto const started = co_await start_runner(slot);
    if (!started) co_return std::move(answers).all(started.error().message);
  }
  auto& process = *runners_[slot];
  std::chrono::duration<double> limit = grace;
  for (auto const& job : round.jobs)
    limit += std::chrono::duration<double>{job.limits.timeout_s};
  Watchdog const watchdog{executor_, limit, process};
  auto line = protocol::encode(std::move(round));
  auto const written = co_await process.write_line(std::move(line));
  if (!written) throw_if_cancelled(written.error());
  std::string reason = written ? "" : written.error().message;
  while (reason.empty() && !answers.complete()) {
    auto const answer = co_await process.read_line();
    if (!answer) {
      throw_if_cancelled(answer.error());
      reason = "runner vanished: " + answer.error().message + " " + process.last_stderr();
      break;
    }
    try {
      auto message = protocol::decode(*answer);
      if (auto const* progress = std::get_if<protocol::Progress>(&message))
        on_progress(*progress);
      else if (!answers.take(std::move(message)))
        reason = "runner answered out of turn";
    } catch (protocol::ProtocolError const& problem) {
      reason = std::string{"runner: "} + problem.what();
    }
  }
  if (reason.empty()) conversation.end();
  co_return std::move(answers).all(reason);
}

}  // namespace torchwatch
