#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "github/transport.h"
#include "storage/base/clock.h"
#include "tests/fakes/github/direct_transport.h"

namespace torchwatch::report {

/// Random decisions from a seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_{seed} {}

  /// Returns a number from 0 to below `end`.
  int below(int end) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(end)); }

  bool happens(int percent) { return below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

/// The ways in which a request fails.
enum class Fault {
  timeout_before,  ///< GitHub did nothing
  timeout_after,   ///< GitHub did it, and the response was lost
  error_before,
  error_after,
  request_timeout,  ///< 408
  secondary_limit,
  secondary_limit_with_time,
  primary_limit,
  too_many_requests,
  too_many_requests_with_time,
  forbidden,
  bad_credentials,
  killed_before,
  killed_after,
};

/// The number of faults without the kills, which come last.
inline constexpr int harmless_kinds = static_cast<int>(Fault::killed_before);
inline constexpr int fault_kinds = static_cast<int>(Fault::killed_after) + 1;

inline github::Response refusal(int status,
                                std::string const& message,
                                std::map<std::string, std::string> headers = {}) {
  return {status, std::move(headers), nlohmann::json{{"message", message}}.dump()};
}

/// The faults of a connection now.
struct Faults {
  int percent = 0;       ///< share of requests that fail
  bool may_kill = true;  ///< false: no fault kills the service
  bool is_down = false;  ///< true: GitHub does nothing and answers each request with an error
};

/// GitHub behind a network that fails in all known ways.
class FaultyTransport final : public github::Transport {
 public:
  /// All arguments must outlive it.
  FaultyTransport(fakes::FakeGithub& github, Clock const& clock, Dice& dice, Faults& faults)
      : github_{github},
        clock_{clock},
        dice_{dice},
        faults_{faults} {}

  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override {
    if (faults_.is_down) co_return response_to(Fault::error_before);
    if (!dice_.happens(faults_.percent)) co_return co_await github_.send(std::move(request));
    auto const kinds = faults_.may_kill ? fault_kinds : harmless_kinds;
    auto const fault = static_cast<Fault>(dice_.below(kinds));
    if (fault == Fault::killed_before) throw std::runtime_error("killed");
    if (takes_effect(fault)) static_cast<void>(co_await github_.send(std::move(request)));
    if (fault == Fault::killed_after) throw std::runtime_error("killed");
    co_return response_to(fault);
  }

 private:
  static bool takes_effect(Fault fault) {
    return fault == Fault::timeout_after || fault == Fault::error_after ||
           fault == Fault::killed_after;
  }

  Result<github::Response> response_to(Fault fault) {
    constexpr std::array server_errors{500, 502, 503, 504};
    auto const* const secondary =
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    switch (fault) {
      case Fault::error_before:
      case Fault::error_after:
        return refusal(server_errors.at(static_cast<std::size_t>(dice_.below(4))), "Server Error");
      case Fault::request_timeout:
        return refusal(408, "Request Timeout");
      case Fault::secondary_limit:
        return refusal(403, secondary);
      case Fault::secondary_limit_with_time:
        return refusal(403, secondary, {{"retry-after", std::to_string(dice_.below(600))}});
      case Fault::primary_limit:
        return refusal(403,
                       "API rate limit exceeded for user ID 1.",
                       {{"x-ratelimit-remaining", "0"}, reset()});
      case Fault::too_many_requests:
        return refusal(429, secondary);
      case Fault::too_many_requests_with_time:
        return refusal(429, secondary, {{"retry-after", "30"}});
      case Fault::forbidden:
        return refusal(403, "Resource not accessible by personal access token");
      case Fault::bad_credentials:
        return refusal(401, "Bad credentials");
      default:
        return Error{ErrorCode::unavailable, "connection lost"};
    }
  }

  std::pair<std::string const, std::string> reset() {
    auto const end = clock_.now().time_since_epoch().count() + dice_.below(3600);
    return {"x-ratelimit-reset", std::to_string(end)};
  }

  fakes::DirectTransport github_;
  Clock const& clock_;
  Dice& dice_;
  Faults& faults_;
};

}  // namespace torchwatch::report
