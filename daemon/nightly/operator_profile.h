#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Measures the cost of each operator on both builds of an incident, for the benchmarks that
/// changed most. Skips a benchmark that cannot be measured: a profile is evidence for people, and
/// decides nothing. Fails as Rounds::measure does.
boost::asio::awaitable<Result<>> profile_incident(storage::Store& store,
                                                  measure::Rounds& rounds,
                                                  Incident incident);

}  // namespace torchwatch::nightly
