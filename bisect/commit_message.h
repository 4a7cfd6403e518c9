#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/domain/build.h"

namespace torchwatch::bisect {

/// The pull request that landed as the commit with this message: the last trailer "Pull Request
/// resolved: .../pull/N", else "(#N)" at the end of the subject. A number inside the quotes of
/// `Revert "... (#N)"` is the reverted pull request, not the commit's own.
std::optional<int> pull_request_of(std::string_view message);

/// A commit of the nightly branch, as its subject tells it.
struct NightlyRelease {
  std::string date;   ///< "YYYY-MM-DD"
  CommitSha trunk;    ///< what was released
  CommitSha release;  ///< the commit of the nightly branch itself
};

/// Reads "YYYY-MM-DD nightly release (<40 hexadecimal digits>)"; nothing when `subject` is not of
/// that form.
std::optional<NightlyRelease> parse_nightly_release(std::string_view subject, CommitSha release);

}  // namespace torchwatch::bisect
