#include "daemon/suite_try/conversation.h"

#include <chrono>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "runner/process/excerpt.h"
#include "runner/process/sandbox.h"

namespace torchwatch::suite_try {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// The time that a worker has to end after the end of its input, with some tolerance.
constexpr auto leave_patience = 2500ms;
constexpr auto memory_period = 100ms;
/// The most lines of noise that are kept.
constexpr std::size_t most_noise = 8;

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(Seconds{seconds});
}

/// True for lines that a worker meant as a message, such as a result with NaN.
bool looks_like_message(std::string const& line) {
  return line.starts_with('{') && line.find("\"type\"") != std::string::npos;
}

}  // namespace

std::optional<Reply> reply_in(Heard heard) {
  Reply reply;
  if (!heard.message) {
    bool const is_silent = heard.kind == Heard::Kind::silence;
    reply.problem = is_silent ? "timeout: no answer within measure.timeout_s" : heard.text;
    return reply;
  }
  auto& message = *heard.message;
  if (std::holds_alternative<protocol::Progress>(message)) return std::nullopt;
  if (auto* const outcome = std::get_if<protocol::Outcome>(&message))
    reply.outcome = std::move(*outcome);
  else if (auto* const failure = std::get_if<protocol::Failure>(&message))
    reply.failure = std::move(*failure);
  else
    reply.problem = "it sent a " + protocol::type_of(message) + " in place of an answer";
  return reply;
}

Conversation::Conversation(runner::LoneWorker worker, bool is_sandboxed)
    : worker_{std::move(worker)},
      is_sandboxed_{is_sandboxed},
      tree_{worker_.process.pid(), is_sandboxed} {}

Result<Conversation> Conversation::start(asio::any_io_executor const& executor,
                                         protocol::Job const& job,
                                         runner::WorkerEnvironment const& surroundings) {
  auto worker = runner::start_lone_worker(executor, job, surroundings);
  if (!worker) return worker.error();
  return Conversation{std::move(*worker), surroundings.isolation != process::Isolation::none};
}

asio::awaitable<Heard> Conversation::hear(double seconds) {
  asio::steady_timer timer{co_await asio::this_coro::executor, milliseconds_of(seconds)};
  Heard heard;
  for (;;) {
    auto next = co_await (worker_.process.read_line() || timer.async_wait(asio::use_awaitable) ||
                          exceed_memory());
    if (next.index() == 1) co_return heard;
    if (next.index() == 2) {
      heard.kind = Heard::Kind::ended;
      heard.text = "memory: it holds more than measure.memory_mib";
      co_return heard;
    }
    auto const& line = std::get<0>(next);
    if (!line) break;
    auto taken = take(*line);
    if (taken) co_return std::move(*taken);
  }
  co_return co_await autopsy();
}

/// Returns what the line is; nothing for noise.
std::optional<Heard> Conversation::take(std::string const& line) {
  Heard heard;
  try {
    heard.message = protocol::decode(line);
    heard.kind = Heard::Kind::message;
    return heard;
  } catch (protocol::ProtocolError const& problem) {
    heard.text = "\"" + process::excerpt(line) + "\": " + process::excerpt(problem.what());
  }
  heard.kind = Heard::Kind::garbled;
  if (looks_like_message(line)) return heard;
  if (noise_.size() < most_noise) noise_.push_back(heard.text);
  return std::nullopt;
}

/// Returns how the worker ended.
asio::awaitable<Heard> Conversation::autopsy() {
  asio::steady_timer patience{co_await asio::this_coro::executor, leave_patience};
  auto const ended = co_await (worker_.process.wait() || patience.async_wait(asio::use_awaitable));
  Heard heard;
  heard.kind = Heard::Kind::ended;
  heard.text = "it closed its output and went on";
  auto const* const status = std::get_if<process::ExitStatus>(&ended);
  if (status == nullptr) co_return heard;
  auto const words = process::last_lines(worker_.process.last_stderr());
  auto const how = is_sandboxed_ ? process::seen_through_sandbox(*status) : *status;
  heard.text = "it ended: " + process::describe(how) +
               (words.empty() ? "; it printed no reason" : "; it printed last: " + words);
  co_return heard;
}

/// Ends when the worker holds more memory than its job allows.
asio::awaitable<void> Conversation::exceed_memory() {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  while (tree_.look().resident_bytes <= worker_.job.limits.memory_bytes) {
    timer.expires_after(memory_period);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<void> Conversation::send_line(std::string line) {
  static_cast<void>(co_await worker_.process.write_line(std::move(line)));
}

asio::awaitable<std::optional<double>> Conversation::time_to_end() {
  auto const begin = Clock::now();
  asio::steady_timer patience{co_await asio::this_coro::executor, leave_patience};
  auto const ended = co_await (worker_.process.wait() || patience.async_wait(asio::use_awaitable));
  if (ended.index() == 1) co_return std::nullopt;
  co_return Seconds{Clock::now() - begin}.count();
}

}  // namespace torchwatch::suite_try
