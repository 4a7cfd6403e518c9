#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/fleets.h"
#include "daemon/measuring.h"
#include "storage/store.h"

namespace torchwatch {

/// Measures both builds of an incident once more, for what each operator costs, on the benchmarks
/// that moved most. What cannot be measured is left out: a profile is evidence for people, nothing
/// is decided by it.
boost::asio::awaitable<void> profile_incident(storage::Store& store,
                                              Fleets& fleets,
                                              Measuring& measuring,
                                              Incident incident);

}  // namespace torchwatch
