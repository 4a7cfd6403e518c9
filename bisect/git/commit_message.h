#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/build.h"

namespace torchwatch::bisect {

/// Returns the pull request of the watched project that landed as the commit with this message. It
/// is in the last trailer that PyTorch's merge bot accepts ("Pull Request resolved:",
/// "Pull-Request-resolved:" or "Pull-Request:", then https://github.com/pytorch/pytorch/pull/N),
/// else in "(#N)" at the end of the subject. Two numbers do not count: one inside the quotes of
/// `Revert "... (#N)"`, which is the reverted pull request, and one in the subject that a trailer
/// assigns to another repository.
std::optional<int> pull_request_of(std::string_view message);

/// Returns the GitHub names of the users who approved the pull request, each once, in order. They
/// are in the trailers "Approved by: https://github.com/NAME, ...".
std::vector<std::string> approvers_of(std::string_view message);

/// The change that a commit reverts.
struct Revert {
  std::optional<CommitSha> commit;  ///< "This reverts commit <40 hexadecimal digits>."
  std::optional<int> pull_request;  ///< that landed the reverted change
};

/// Reads the message of a revert, which has the subject `Revert "... (#N)"`. Returns nothing for
/// another subject. The pull request is in the line "Reverted .../pull/N" of the watched project,
/// else inside the quotes.
std::optional<Revert> revert_of(std::string_view message);

/// A commit of the nightly branch, from its subject.
struct NightlyRelease {
  std::string date;   ///< "YYYY-MM-DD"
  CommitSha trunk;    ///< the commit that was released
  CommitSha release;  ///< the commit of the nightly branch itself
};

/// Reads "YYYY-MM-DD nightly release (<40 hexadecimal digits>)". Returns nothing if `subject` has
/// another form.
std::optional<NightlyRelease> parse_nightly_release(std::string_view subject, CommitSha release);

}  // namespace torchwatch::bisect
