#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "storage/domain/bisection.h"
#include "storage/domain/build.h"

/// Describes how two commits descend from their common ancestor. Pure.
namespace torchwatch::bisect {

/// The commits between two commits. Where the start is an ancestor of the end, `base` is the start,
/// and `missing` is empty.
struct Lineage {
  Commit base;                  ///< the newest common ancestor
  std::vector<Commit> missing;  ///< commits after `base` up to the start, oldest first
  std::vector<Commit> added;    ///< commits after `base` up to the end, oldest first
};

/// The commits that a merge brought into the line that it continues: after `base`, up to `tip`.
struct MergedLine {
  CommitSha base;  ///< the newest common ancestor of both parents of the merge
  CommitSha tip;   ///< the parent that is not on the line
  friend bool operator==(MergedLine const&, MergedLine const&) = default;
};

/// The way from the start to the end, one commit a step: first back to the base, then to the end.
struct Way {
  std::vector<Commit> suspects;  ///< the commit that each step removes or adds
  std::vector<Commit> builds;    ///< the commit to build after each step
  std::size_t missing = 0;       ///< number of steps that remove a commit; they come first
};

Way way_along(Lineage const& lineage);

/// Replaces the builds of the way that a finding names by the suspects of the steps to them.
void name_suspects(Way const& way, Finding& finding);

/// Returns the base and the numbers of missing and added commits. Returns nothing when the end has
/// all commits of the start.
std::optional<Ancestry> ancestry_of(Lineage const& lineage);

}  // namespace torchwatch::bisect
