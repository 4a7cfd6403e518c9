#include "daemon/measure/greeting.h"

#include <utility>
#include <variant>

#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

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
  co_return Error{ErrorCode::unavailable, "it stayed silent for too long"};
}

std::string with_last_words(std::string reason, Runner const& runner) {
  auto const words = process::last_lines(runner.last_words());
  return words.empty() ? reason : reason + ": " + words;
}

asio::awaitable<Result<protocol::Hello>> hello_of(Runner& runner,
                                                  std::chrono::milliseconds patience) {
  auto const line = co_await read_line(runner, std::chrono::steady_clock::now() + patience);
  if (line) co_return hello_in(*line);
  co_return Error{ErrorCode::unavailable,
                  with_last_words("runner gave no hello: " + line.error().message, runner)};
}

}  // namespace torchwatch::measure
