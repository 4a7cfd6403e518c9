#pragma once

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch::bisection {

/// Notes of each finding with one suspect what the repository and earlier incidents say of it: the
/// trunk commit that reverted it, who approved it, and the newest earlier incident whose culprit
/// has its title or pull request. Findings of commits that the end lacks are left as they are. What
/// git cannot read is logged and stays unknown.
void note_landings(storage::Store& store,
                   config::SourceOptions const& source,
                   Bisection& bisection);

}  // namespace torchwatch::bisection
