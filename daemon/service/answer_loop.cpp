#include "daemon/service/answer_loop.h"

#include <chrono>
#include <exception>
#include <string>

#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <spdlog/spdlog.h>

namespace torchwatch::service {
namespace asio = boost::asio;

namespace {

/// Returns the reason why a poll failed; empty when it did not. Only cancellation passes through.
asio::awaitable<std::string> poll_failure(ServiceParts& parts) {
  try {
    auto const polled = co_await parts.answer();
    co_return polled ? std::string{} : polled.error().message;
  } catch (boost::system::system_error const& problem) {
    if (problem.code() == asio::error::operation_aborted) throw;
    co_return problem.what();
  } catch (std::exception const& problem) {
    co_return problem.what();
  }
}

}  // namespace

asio::awaitable<int> answer_for_ever(ServiceParts& parts) {
  constexpr std::chrono::minutes between_polls{1};
  asio::steady_timer timer{co_await asio::this_coro::executor};
  while (true) {
    auto const failure = co_await poll_failure(parts);
    if (!failure.empty()) spdlog::warn("answers_failed reason=\"{}\"", failure);
    timer.expires_after(between_polls);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace torchwatch::service
