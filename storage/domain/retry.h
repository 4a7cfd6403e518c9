#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "storage/base/clock.h"
#include "storage/base/ids.h"

namespace torchwatch {

/// A step that failed for a temporary reason. It is retried until `retry_patience` ends.
struct Retry {
  std::string subject;  ///< "nightly 12", "commits of bisection 3"
  Timestamp since{};    ///< time of the first attempt; all attempts have failed
  Timestamp last{};     ///< time of the last attempt
  std::string reason;   ///< why the last attempt failed, for people
};

/// The `subject` of a nightly's build.
inline std::string retry_subject(NightlyId nightly) {
  return "nightly " + std::to_string(nightly.value);
}

/// The `subject` of a bisection's commits that the repository does not provide.
inline std::string retry_subject(BisectionId bisection) {
  return "commits of bisection " + std::to_string(bisection.value);
}

/// The time from the first attempt until a step is given up.
inline constexpr std::chrono::hours retry_patience{24};

/// Returns when the next attempt is due. The pause is half the time from the first attempt to the
/// last, an hour at most, so the second attempt follows immediately. The last attempt is made when
/// `retry_patience` ends.
inline Timestamp next_attempt(Retry const& retry) {
  constexpr std::chrono::seconds longest_pause{3600};
  std::chrono::seconds const half = (retry.last - retry.since) / 2;
  return std::min(retry.last + std::min(half, longest_pause), retry.since + retry_patience);
}

/// True when the last attempt was made after `retry_patience` had ended.
inline bool is_over(Retry const& retry) {
  return retry.last - retry.since >= retry_patience;
}

}  // namespace torchwatch
