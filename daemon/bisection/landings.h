#pragma once

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch::bisection {

/// Completes each finding with one suspect from the repository and earlier incidents. Stores the
/// trunk commit that reverted it, its approvers, and the newest earlier incident whose culprit has
/// its title or pull request. Leaves findings of commits that the end lacks unchanged. Failures of
/// git are logged, and the fields stay unknown.
void note_landings(storage::Store& store,
                   config::SourceOptions const& source,
                   Bisection& bisection);

}  // namespace torchwatch::bisection
