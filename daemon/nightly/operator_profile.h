#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Measures both builds of an incident once more, for what each operator costs, on the benchmarks
/// that moved most. What cannot be measured is left out: a profile is evidence for people, nothing
/// is decided by it. Errors as Rounds::measure's.
boost::asio::awaitable<Result<>> profile_incident(storage::Store& store,
                                                  measure::Rounds& rounds,
                                                  Incident incident);

}  // namespace torchwatch::nightly
