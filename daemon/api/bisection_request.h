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
///     start, end   40 hexadecimal digits, or the date or id of a nightly; two different commits
///     benchmarks   ["test_train[dlrm-cpu-eager]", ...], each once, for the fleet's device
///     fleet        optional if there is only one
///     metric       "latency" by default
///     threshold    a fraction, 0.07 by default
///     direction    "increase" by default
///     prior        "uniform" or "paths"; `prior` by default
///     again        id of a bisection, which provides the fields that are not given
///     incident     id of an incident, whose first bisection provides the fields that are not
///                  given; without a bisection: its two nightlies, all its series, and `threshold`
///
/// or returns all errors in it. If the commits and series are those of a bisection of an incident,
/// the new bisection belongs to the incident, too. With `again` and `incident`, each of benchmarks,
/// fleet and metric replaces that part of the earlier series.
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
/// or returns all errors in it.
boost::system::result<BisectionState, std::vector<http::FieldError>> parse_steering_request(
    std::string const& text);

}  // namespace torchwatch::api
