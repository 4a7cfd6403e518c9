#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/build.h"

namespace torchwatch::bisect {

/// The pull request of the watched project that landed as the commit with this message. It is in
/// the last trailer that PyTorch's merge bot accepts ("Pull Request resolved:",
/// "Pull-Request-resolved:" or "Pull-Request:", then https://github.com/pytorch/pytorch/pull/N),
/// else in "(#N)" at the end of the subject. Two numbers do not count: one inside the quotes of
/// `Revert "... (#N)"`, which is the reverted pull request, and one in the subject that a trailer
/// names as another repository's.
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
/// that of the line "Reverted .../pull/N" of the watched project, else the one inside the quotes.
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
