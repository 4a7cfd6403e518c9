#pragma once

#include <map>
#include <string>

#include "storage/store.h"

namespace torchwatch::bisection {

/// Standard deviation of the logarithms of times between builds of equal commits, by fleet: as the
/// newest commits that were built in two layouts tell, whether for a proof or for nothing else.
/// Fleets of which too little is known are left out. Reads what was measured of some forty commits.
std::map<std::string, double> learnt_builds(storage::Store& store);

}  // namespace torchwatch::bisection
