#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "storage/domain/bisection.h"
#include "storage/domain/build.h"

/// The descent of two commits from their common ancestor. Pure.
namespace torchwatch::bisect {

/// What lies between two commits. Where the start is an ancestor of the end, `base` is the start,
/// and nothing is missing.
struct Lineage {
  Commit base;                  ///< the newest commit that both have
  std::vector<Commit> missing;  ///< after it up to the start, oldest first: the end lacks these
  std::vector<Commit> added;    ///< after it up to the end, oldest first
};

/// The commits that a merge brought into the line that it continues: after `base`, up to `tip`.
struct MergedLine {
  CommitSha base;  ///< the newest commit that both parents of the merge have
  CommitSha tip;   ///< the other parent
  friend bool operator==(MergedLine const&, MergedLine const&) = default;
};

/// The way from the start to the end, one commit a step: back to the base without the commits that
/// are missing, and on to the end.
struct Way {
  std::vector<Commit> suspects;  ///< what each step takes away or adds
  std::vector<Commit> builds;    ///< where each step leads: to an added commit itself
  std::size_t missing = 0;       ///< steps that take a commit away; the first ones
};

Way way_along(Lineage const& lineage);

/// Has a finding that names builds of the way name the suspects of the steps that lead there.
void name_suspects(Way const& way, Finding& finding);

/// Nothing where the end has all that the start has.
std::optional<Ancestry> ancestry_of(Lineage const& lineage);

}  // namespace torchwatch::bisect
