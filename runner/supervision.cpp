#include "runner/supervision.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "runner/acceptance.h"
#include "runner/process/excerpt.h"
#include "runner/process/process_tree.h"
#include "runner/process/sandbox.h"

namespace torchwatch::runner {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using process::excerpt;
using process::ExitStatus;
using protocol::Failure;
using protocol::Hello;
using protocol::Message;
using protocol::Outcome;
using protocol::Progress;

namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

/// Time between two checks of the limits. Shorter periods would disturb the measurement.
constexpr Seconds poll_period = 100ms;
/// The time that a worker has to end after its answer, or after it closed its output.
constexpr auto leave_patience = 2s;
/// The most processes of one worker. The suite's workers have one or two; others may run compilers.
constexpr int most_processes = 512;

/// Returns the fault that the worker itself reported. Without a code, or with the code reserved for
/// the runner, it is "failed".
Fault fault_of(Failure const& failure) {
  bool const has_code = !failure.code.empty() && failure.code != protocol::host_trouble;
  return {has_code ? failure.code : "failed", failure.text};
}

Fault misbehaved(std::string const& how) {
  return {"protocol", "worker " + how};
}

/// The conversation with one worker, and its limits. Everything it refers to must outlive it.
class Supervision {
 public:
  Supervision(protocol::Job const& job,
              ProgressSink const& on_progress,
              TurnSlot& slot,
              Started worker)
      : job_{job},
        on_progress_{on_progress},
        slot_{slot},
        worker_{worker.process},
        is_sandboxed_{worker.is_sandboxed} {}

  /// Talks to the worker from its hello to its answer.
  asio::awaitable<Received<Outcome>> converse();
  /// Ends when the worker breaks a limit.
  asio::awaitable<Fault> hold_to_limits();
  /// Ends some seconds after the worker, when a process that it left behind keeps its output open.
  asio::awaitable<Fault> outlast();

 private:
  asio::awaitable<Received<Message>> receive();
  asio::awaitable<std::optional<Fault>> greet();
  asio::awaitable<void> give_turn();
  asio::awaitable<std::optional<Fault>> take_leave();
  asio::awaitable<Fault> autopsy();
  std::optional<Fault> check_message(Message const& message) const;
  std::string where() const;
  Seconds spent() const;

  protocol::Job const& job_;
  ProgressSink const& on_progress_;
  TurnSlot& slot_;
  process::ChildProcess& worker_;
  bool is_sandboxed_;
  Clock::time_point const begin_ = Clock::now();
  Clock::duration waited_{};                        // for turns
  std::optional<Clock::time_point> waiting_since_;  // for the next one
  bool greeted_ = false;
  std::optional<Progress> last_;
};

asio::awaitable<Received<Outcome>> Supervision::converse() {
  auto unfriendly = co_await greet();
  if (unfriendly) co_return std::move(*unfriendly);
  std::string job = protocol::encode(job_);
  // If this fails, the worker does not read its input. The next receive() finds the reason.
  static_cast<void>(co_await worker_.write_line(std::move(job)));

  for (;;) {
    auto message = co_await receive();
    if (!message) co_return message.error();
    if (auto const fault = check_message(*message)) co_return *fault;
    if (auto const* const progress = std::get_if<Progress>(&*message)) {
      last_ = *progress;
      on_progress_(*progress);
      continue;
    }
    if (std::holds_alternative<protocol::Ready>(*message)) {
      co_await give_turn();
      continue;
    }
    auto const rude = co_await take_leave();
    if (rude) co_return *rude;
    if (auto const* const failure = std::get_if<Failure>(&*message)) co_return fault_of(*failure);
    co_return std::get<Outcome>(std::move(*message));
  }
}

asio::awaitable<std::optional<Fault>> Supervision::greet() {
  auto const message = co_await receive();
  if (!message) co_return message.error();
  if (auto const* const failure = std::get_if<Failure>(&*message)) co_return fault_of(*failure);
  auto const* const hello = std::get_if<Hello>(&*message);
  if (hello == nullptr) co_return misbehaved("did not begin with hello");
  if (hello->role != "worker") {
    co_return misbehaved("calls itself \"" + excerpt(hello->role) + "\"; must be \"worker\"");
  }
  if (hello->protocol != protocol::version) {
    co_return misbehaved("uses protocol version " + std::to_string(hello->protocol) + "; must be " +
                         std::to_string(protocol::version));
  }
  greeted_ = true;
  co_return std::nullopt;
}

asio::awaitable<void> Supervision::give_turn() {
  waiting_since_ = Clock::now();
  co_await slot_.take();
  waited_ += Clock::now() - *waiting_since_;
  waiting_since_.reset();
  std::string turn = protocol::encode(protocol::Turn{job_.id});
  // If this fails, the next receive() finds the reason, as with the job.
  static_cast<void>(co_await worker_.write_line(std::move(turn)));
}

/// Returns the time that counts towards the time limit.
Seconds Supervision::spent() const {
  auto const now = waiting_since_.value_or(Clock::now());
  return now - begin_ - waited_;
}

asio::awaitable<Received<Message>> Supervision::receive() {
  auto const line = co_await worker_.read_line();
  if (line) {
    try {
      co_return protocol::decode(*line);
    } catch (protocol::ProtocolError const& problem) {
      co_return misbehaved("printed \"" + excerpt(*line) + "\": " + excerpt(problem.what()));
    }
  }
  if (line.error().code == ErrorCode::corrupt) {
    co_return misbehaved("printed a line that is not a message: " + line.error().message);
  }
  auto const fault = co_await autopsy();
  co_return fault;
}

/// Returns a fault when the worker may not send this message after its hello.
std::optional<Fault> Supervision::check_message(Message const& message) const {
  if (std::holds_alternative<Hello>(message)) return misbehaved("sent a second hello");
  for (auto const* const type : {"job", "round", "turn"})
    if (protocol::type_of(message) == type) return misbehaved(std::string{"sent a "} + type);
  auto const* const ready = std::get_if<protocol::Ready>(&message);
  if (ready != nullptr && !job_.takes_turns)
    return misbehaved("waits for a turn, but its job takes no turns");
  std::string id = job_.id;
  if (auto const* const progress = std::get_if<Progress>(&message)) id = progress->id;
  auto const* const outcome = std::get_if<Outcome>(&message);
  if (outcome != nullptr) id = outcome->id;
  if (ready != nullptr) id = ready->id;
  // An error without id belongs to the only job.
  auto const* const failure = std::get_if<Failure>(&message);
  if (failure != nullptr && !failure->id.empty()) id = failure->id;
  if (id != job_.id)
    return misbehaved("named job \"" + excerpt(id) + "\"; it was given \"" + job_.id + "\"");
  if (outcome == nullptr) return std::nullopt;
  auto const why = runner::check_outcome(*outcome, job_);
  if (why.empty()) return std::nullopt;
  return misbehaved("answered with " + excerpt(why));
}

/// Closes the worker's input and waits a while for a second message, which is a fault. The owner of
/// the process kills a worker that does not end.
asio::awaitable<std::optional<Fault>> Supervision::take_leave() {
  worker_.close_stdin();
  asio::steady_timer patience{co_await asio::this_coro::executor, leave_patience};
  auto const next = co_await (worker_.read_line() || patience.async_wait(asio::use_awaitable));
  auto const* const line = std::get_if<Result<std::string>>(&next);
  if (line == nullptr || line->has_error()) co_return std::nullopt;
  co_return misbehaved("went on after its answer: \"" + excerpt(**line) + "\"");
}

/// Returns the reason why the worker's output ended without an answer.
asio::awaitable<Fault> Supervision::autopsy() {
  asio::steady_timer patience{co_await asio::this_coro::executor, leave_patience};
  auto const ended = co_await (worker_.wait() || patience.async_wait(asio::use_awaitable));
  auto const* const status = std::get_if<ExitStatus>(&ended);
  if (status == nullptr) co_return misbehaved("closed its output " + where() + " and went on");

  auto const words = process::last_lines(worker_.last_stderr());
  auto const how = is_sandboxed_ ? process::seen_through_sandbox(*status) : *status;
  auto text = "worker ended " + where() + ": " + process::describe(how);
  text += words.empty() ? "; it printed no reason" : "; it printed last: " + words;
  // What a shell, env and the dynamic linker return when they cannot start a program.
  bool const never_ran =
      !greeted_ && (how.code == 126 || how.code == 127 || words.starts_with("bwrap: "));
  co_return Fault{never_ran ? "launch" : "crashed", std::move(text)};
}

/// Processes can stay when they are in a session of their own, or when bubblewrap was killed before
/// it had bound the sandbox to its own life.
asio::awaitable<Fault> Supervision::outlast() {
  static_cast<void>(co_await worker_.wait());
  asio::steady_timer patience{co_await asio::this_coro::executor, 2 * leave_patience};
  co_await patience.async_wait(asio::use_awaitable);
  co_return co_await autopsy();
}

std::string Supervision::where() const {
  if (!greeted_) return "before its hello";
  if (!last_) return "before its first progress";
  return "during " + excerpt(last_->phase) + " (" + std::to_string(last_->done) + " of " +
         std::to_string(last_->total) + ")";
}

std::string mebibytes(std::int64_t bytes) {
  return std::to_string(bytes / (1024 * 1024)) + " MiB";
}

std::string to_text(Seconds duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g s", duration.count());
  return text.data();
}

asio::awaitable<Fault> Supervision::hold_to_limits() {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  Seconds const limit{job_.limits.timeout_s};
  process::ProcessTree tree{worker_.pid(), is_sandboxed_};
  for (;;) {
    if (spent() >= limit) {
      co_return Fault{"timeout", "no answer after " + to_text(limit) + ", stopped " + where()};
    }
    auto const held = tree.look();
    if (held.resident_bytes > job_.limits.memory_bytes) {
      co_return Fault{"memory",
                      "worker and its children hold " + mebibytes(held.resident_bytes) + " " +
                          where() + "; allowed are " + mebibytes(job_.limits.memory_bytes)};
    }
    if (held.processes > most_processes) {
      co_return Fault{"memory",
                      "worker and its children are more than " + std::to_string(most_processes) +
                          " processes " + where()};
    }
    auto const pause = std::clamp<Seconds>(limit - spent(), 1ms, poll_period);
    timer.expires_after(std::chrono::ceil<std::chrono::milliseconds>(pause));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace

asio::awaitable<Received<Outcome>> supervise(protocol::Job const& job,
                                             ProgressSink const& on_progress,
                                             TurnSlot& slot,
                                             Started worker) {
  Supervision supervision{job, on_progress, slot, worker};
  auto ended =
      co_await (supervision.converse() || supervision.hold_to_limits() || supervision.outlast());
  if (auto const* const broken = std::get_if<1>(&ended)) co_return *broken;
  if (auto const* const dead = std::get_if<2>(&ended)) co_return *dead;
  co_return std::get<0>(std::move(ended));
}

}  // namespace torchwatch::runner
