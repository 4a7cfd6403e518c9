#pragma once

#include <vector>

#include "config/options.h"
#include "storage/domain/bisection.h"

/// Culprits that are merges. Failures of git to read them are logged.
namespace torchwatch::bisection {

/// Stores how many commits the lone suspect of a finding merged into `parent`, the commit before
/// it. Stays 0 where git cannot read that.
void note_merge(config::SourceOptions const& source, CommitSha const& parent, Finding& finding);

/// Returns the bisections to queue with a bisection that is done. There is one into each proved
/// culprit that merged a line of commits, for the series that it moved. Each searches from the
/// newest commit that both parents have to the merged parent; in reverse where the end lacks the
/// merge. If these ends do not differ, the merge itself is the culprit. Returns none for a failed
/// bisection.
std::vector<Bisection> bisections_into_merges(config::SourceOptions const& source,
                                              Bisection const& bisection);

}  // namespace torchwatch::bisection
