#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/build.h"

/// Finds commits that revert others or land them again, by their messages. Pure.
namespace torchwatch::bisect {

/// A commit of the trunk with its whole message.
struct Landing {
  CommitSha sha;
  std::string message;
};

/// Returns the commit of `later` that reverted `culprit`. Returns nothing when a commit after it
/// reverted the revert or landed the change again. `later` has the commits after the culprit,
/// oldest first. A revert that names a commit reverts only that one, not others of its pull
/// request.
std::optional<CommitSha> standing_revert(Commit const& culprit, std::vector<Landing> const& later);

/// A regression that a commit of the trunk may fix.
struct Defect {
  std::optional<Commit> culprit{};  ///< the commit that caused it; absent: unknown
  std::string issue{};              ///< URL of the issue that reports it; empty: none
};

/// True when a line of the message states that it fixes, closes or resolves the defect. The line
/// names the issue by its URL or as "owner/name#N", or as "#N" if it is in the watched project. Or
/// it states a fix and names the culprit by its pull request or by at least ten digits of its hash.
/// A message that lands the culprit again fixes nothing.
bool says_fixed(std::string_view message, Defect const& defect);

/// Returns the commit of `later` that should end the defect: standing_revert() of the culprit, else
/// the first one that says_fixed() and that no later one reverted. `later` has the commits of the
/// trunk after the culprit, oldest first; without a culprit, those after the defect appeared.
std::optional<CommitSha> standing_fix(Defect const& defect, std::vector<Landing> const& later);

/// Returns the first commit of `later` that lands the change of `earlier` again.
std::optional<CommitSha> landed_again(Commit const& earlier, std::vector<Landing> const& later);

/// True when the commit with this message lands the change of `earlier` again: it has the same pull
/// request or title, or one of its lines names that pull request as relanded. Titles are compared
/// without the number at their end and without marks such as `[reland]` and `Reland "..."`.
bool lands_again(std::string_view message, Commit const& earlier);

}  // namespace torchwatch::bisect
