#pragma once

#include <map>
#include <string>

#include "storage/store.h"

namespace torchwatch::bisection {

/// Reads how much builds of one commit differ on each fleet. Uses the newest commits that were
/// built twice: for proofs in two layouts, and by nightly::Rebuilds. Reads the measurements of some
/// forty commits.
BuildVariation read_build_variation(storage::Store& store);

}  // namespace torchwatch::bisection
