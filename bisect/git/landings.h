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

/// True when the commit with this message lands the change of `earlier` again: it has the same pull
/// request or title, or one of its lines names that pull request as relanded. Titles are compared
/// without the number at their end and without marks such as `[reland]` and `Reland "..."`.
bool lands_again(std::string_view message, Commit const& earlier);

}  // namespace torchwatch::bisect
