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

/// Finds what standing_revert() does, in commits that are added as they land.
class RevertFinder {
 public:
  explicit RevertFinder(Commit const& culprit) : culprit_{culprit}, landed_{culprit} {}

  /// Adds the next commit after the culprit.
  void add(Landing const& landing);

  std::optional<Commit> const& revert() const { return revert_; }

 private:
  Commit culprit_;
  Commit landed_;  ///< the culprit, or the last commit that landed it again
  std::optional<Commit> revert_{};
};

/// A regression that a commit of the trunk may fix.
struct Defect {
  std::optional<Commit> culprit{};  ///< the commit that caused it; absent: unknown
  std::string issue{};              ///< URL of the issue that reports it; empty: none
  friend bool operator==(Defect const&, Defect const&) = default;
};

/// True when a line of the message states that it fixes, closes or resolves the defect. The line
/// names the issue by its URL or as "owner/name#N", or as "#N" if it is in the watched project. Or
/// it states a fix and names the culprit by its pull request or by at least ten digits of its hash.
/// A message that lands the culprit again fixes nothing.
bool says_fixed(std::string_view message, Defect const& defect);

/// Finds the commit that should end a defect, in commits of the trunk that are added as they land:
/// the standing_revert() of the culprit, else the first one that says_fixed() and that no later one
/// reverted.
class FixFinder {
 public:
  explicit FixFinder(Defect defect);

  /// Adds the next commits of the trunk, oldest first. The first ones follow the culprit; without a
  /// culprit, they follow the commit at which the defect appeared.
  void add(std::vector<Landing> const& later);

  /// Returns the commit that should end the defect, of those that were added.
  std::optional<CommitSha> fix() const;

  Defect const& defect() const { return defect_; }

 private:
  Defect defect_;
  std::optional<RevertFinder> revert_;  ///< absent without a culprit
  std::optional<Commit> fix_{};         ///< it says so
};

/// Returns the first commit of `later` that lands the change of `earlier` again.
std::optional<CommitSha> landed_again(Commit const& earlier, std::vector<Landing> const& later);

/// True when the commit with this message lands the change of `earlier` again: it has the same pull
/// request or title, or one of its lines names that pull request as relanded. Titles are compared
/// without the number at their end and without marks such as `[reland]` and `Reland "..."`.
bool lands_again(std::string_view message, Commit const& earlier);

}  // namespace torchwatch::bisect
