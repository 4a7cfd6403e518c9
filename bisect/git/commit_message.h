#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/build.h"

namespace torchwatch::bisect {

/// The pull request that landed as the commit with this message: the last trailer "Pull Request
/// resolved: .../pull/N", else "(#N)" at the end of the subject. A number inside the quotes of
/// `Revert "... (#N)"` is the reverted pull request, not the commit's own.
std::optional<int> pull_request_of(std::string_view message);

/// Who approved the pull request: the GitHub names in the trailers "Approved by:
/// https://github.com/NAME, ...", each once, in order.
std::vector<std::string> approvers_of(std::string_view message);

/// What a commit takes back.
struct Revert {
  std::optional<CommitSha> commit;  ///< "This reverts commit <40 hexadecimal digits>."
  std::optional<int> pull_request;  ///< of the reverted change
};

/// Nothing when the message is not a revert's: `Revert "... (#N)"` as subject. The pull request is
/// that of the line "Reverted .../pull/N", else the one inside the quotes.
std::optional<Revert> revert_of(std::string_view message);

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
