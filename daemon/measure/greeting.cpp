#include "daemon/measure/greeting.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include "daemon/measure/launcher.h"
#include "runner/process/excerpt.h"

namespace torchwatch::measure {
namespace asio = boost::asio;

namespace {

/// True when the field is a text or missing.
bool is_text_where_given(nlohmann::json const& fingerprint, char const* key) {
  return !fingerprint.contains(key) || fingerprint[key].is_string();
}

bool is_fingerprint(nlohmann::json const& given) {
  return given.is_object() && is_text_where_given(given, "host") &&
         is_text_where_given(given, "isolation");
}

Result<protocol::Hello> hello_in(std::string const& line) {
  try {
    auto message = protocol::decode(line);
    auto* const hello = std::get_if<protocol::Hello>(&message);
    if (hello == nullptr || hello->protocol != protocol::version)
      return Error{ErrorCode::corrupt, "runner uses another protocol: " + process::excerpt(line)};
    if (!is_fingerprint(hello->fingerprint))
      return Error{ErrorCode::corrupt,
                   "runner sent an invalid fingerprint: " + process::excerpt(line)};
    return std::move(*hello);
  } catch (protocol::ProtocolError const& problem) {
    return Error{ErrorCode::corrupt, std::string{"runner: "} + problem.what()};
  }
}

constexpr char const* silent = "it stayed silent for too long";

/// The time that srun needs, after the end of its step, to report a cause and end.
constexpr std::chrono::seconds time_for_final_words{2};

/// Returns at the end of the limits, with the reason. Reads the launcher's messages regularly,
/// since nothing signals them.
asio::awaitable<std::string> end_of_limits(Runner const& runner,
                                           GreetingLimits limits,
                                           OnQueued const& on_queued) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds longest_pause{1000};
  auto const pause = std::min(longest_pause, limits.hello / 4);
  asio::steady_timer timer{co_await asio::this_coro::executor};
  auto stage = LauncherStage::starting;
  auto deadline = Clock::now() + limits.hello;
  while (Clock::now() < deadline) {
    timer.expires_at(std::min(deadline, Clock::now() + pause));
    co_await timer.async_wait(asio::use_awaitable);
    auto const reached = launcher_stage(runner.last_words());
    if (reached == stage) continue;
    stage = reached;
    bool const is_queued = stage == LauncherStage::queued;
    deadline = Clock::now() + (is_queued ? limits.queue : limits.hello);
    if (is_queued && on_queued) on_queued();
  }
  co_return stage == LauncherStage::queued ? "it waited too long in the queue of its scheduler"
                                           : silent;
}

}  // namespace

void throw_if_cancelled(Error const& error) {
  if (error.code == ErrorCode::cancelled)
    throw boost::system::system_error{asio::error::operation_aborted};
}

asio::awaitable<Result<std::string>> read_line(Runner& runner,
                                               std::chrono::steady_clock::time_point deadline) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer{co_await asio::this_coro::executor, deadline};
  auto read = co_await (runner.read_line() || timer.async_wait(asio::use_awaitable));
  if (auto* const line = std::get_if<Result<std::string>>(&read)) {
    if (!*line) throw_if_cancelled(line->error());
    co_return std::move(*line);
  }
  co_return Error{ErrorCode::unavailable, silent};
}

std::string with_last_words(std::string reason, Runner const& runner) {
  auto const words = process::last_lines(runner.last_words());
  return words.empty() ? reason : reason + ": " + words;
}

asio::awaitable<std::string> with_final_words(std::string reason, Runner& runner) {
  co_await runner.ends_within(time_for_final_words);
  co_return with_last_words(std::move(reason), runner);
}

asio::awaitable<Result<protocol::Hello>> hello_of(Runner& runner,
                                                  GreetingLimits limits,
                                                  OnQueued const& on_queued) {
  using namespace asio::experimental::awaitable_operators;
  auto heard = co_await (runner.read_line() || end_of_limits(runner, limits, on_queued));
  std::string trouble = "runner gave no hello: ";
  if (auto const* const line = std::get_if<Result<std::string>>(&heard)) {
    if (*line) co_return hello_in(**line);
    throw_if_cancelled(line->error());
    trouble += line->error().message;
  } else {
    trouble += std::get<std::string>(heard);
  }
  trouble = co_await with_final_words(std::move(trouble), runner);
  co_return Error{ErrorCode::unavailable, std::move(trouble)};
}

}  // namespace torchwatch::measure
