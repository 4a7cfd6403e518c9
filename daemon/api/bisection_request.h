#pragma once

#include <span>
#include <string>
#include <vector>

#include <boost/system/result.hpp>

#include "config/options.h"
#include "daemon/http/http_message.h"
#include "storage/domain/bisection.h"
#include "storage/store.h"

namespace torchwatch::api {

/// Reads the body of `POST /api/v1/bisections`, a JSON object of
///
///     start, end   40 hexadecimal digits each, or a nightly by its date or id; not the same commit
///     benchmarks   ["test_train[dlrm-cpu-eager]", ...], each once, of the fleet's device
///     fleet        may be missing when there is only one
///     metric       "latency" unless given
///     threshold    0.07 unless given; a fraction
///     direction    "increase" unless given
///     prior        "uniform" or "paths"; `prior` unless given
///     again        id of a bisection: whatever else is not given is as it was there
///     incident     id of an incident: whatever else is not given is as its own search had it, or
///                  else from the nightly before to its own, all that moved, by `threshold`
///
/// or returns everything that is wrong with it. What asks for the same commits and series as a
/// search of an incident is one of the incident's, too. Of a bisection that is asked for again,
/// benchmarks, fleet and metric each take the place of what its series had.
boost::system::result<BisectionOrder, std::vector<http::FieldError>> parse_bisection_request(
    std::string const& body,
    std::span<config::FleetOptions const> fleets,
    storage::Store& store,
    Prior prior,
    double threshold);

/// Reads the body of `POST /api/v1/bisections/{id}`, a JSON object of
///
///     state        "paused", "queued" to resume, "cancelled"
///
/// or returns everything that is wrong with it.
boost::system::result<BisectionState, std::vector<http::FieldError>> parse_steering_request(
    std::string const& text);

}  // namespace torchwatch::api
