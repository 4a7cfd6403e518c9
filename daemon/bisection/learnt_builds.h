#pragma once

#include <map>
#include <string>

#include "storage/store.h"

namespace torchwatch::bisection {

/// By how much builds of equal commits differ, as the newest commits that were built in two layouts
/// tell, whether for a proof or for nothing else. Reads what was measured of some forty commits.
BuildNoise learnt_builds(storage::Store& store);

}  // namespace torchwatch::bisection
