#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "storage/base/clock.h"
#include "storage/base/ids.h"

namespace torchwatch {

/// Something that could not be had yet. It is tried again until `retry_patience` ends.
struct Retry {
  std::string subject;  ///< "nightly 12", "commits of bisection 3"
  Timestamp since{};    ///< of the first attempt; all have failed
  Timestamp last{};     ///< of the last attempt
  std::string reason;   ///< why the last attempt failed, for people
};

/// The `subject` of a nightly's build.
inline std::string retry_subject(NightlyId nightly) {
  return "nightly " + std::to_string(nightly.value);
}

/// The `subject` of the commits that a bisection is about, where the repository does not give them.
inline std::string retry_subject(BisectionId bisection) {
  return "commits of bisection " + std::to_string(bisection.value);
}

/// How long something is tried again before it is given up.
inline constexpr std::chrono::hours retry_patience{24};

/// When the next attempt is due: after half the time that the trouble has lasted, an hour at most,
/// and once more when `retry_patience` ends. So the second attempt follows the first one at once.
inline Timestamp next_attempt(Retry const& retry) {
  constexpr std::chrono::seconds longest_pause{3600};
  std::chrono::seconds const half = (retry.last - retry.since) / 2;
  return std::min(retry.last + std::min(half, longest_pause), retry.since + retry_patience);
}

/// Whether the last attempt was made when `retry_patience` had ended.
inline bool is_over(Retry const& retry) {
  return retry.last - retry.since >= retry_patience;
}

}  // namespace torchwatch
