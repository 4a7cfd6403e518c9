#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/build.h"

/// Commits that revert others or land them again, by their messages. Pure.
namespace torchwatch::bisect {

/// A commit of the trunk with its whole message.
struct Landing {
  CommitSha sha;
  std::string message;
};

/// The commit of `later` that reverted `culprit`; nothing where a commit after it reverted the
/// revert, or landed the change again. `later`: the commits after the culprit, oldest first.
std::optional<CommitSha> standing_revert(Commit const& culprit, std::vector<Landing> const& later);

/// True when the commit with this message lands the change of `earlier` again: it has the same pull
/// request or title, or a line of it says that it relands that pull request. Titles are compared
/// without the number at their end and without marks such as `[reland]` and `Reland "..."`.
bool lands_again(std::string_view message, Commit const& earlier);

}  // namespace torchwatch::bisect
