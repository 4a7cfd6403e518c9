#pragma once

#include <span>
#include <string>
#include <vector>

#include <boost/system/result.hpp>

#include "config/options.h"
#include "daemon/net/http_message.h"
#include "storage/bisections.h"
#include "storage/domain/bisection.h"

namespace torchwatch::api {

/// Reads the body of `POST /api/v1/bisections`, a JSON object of
///
///     start, end   40 hexadecimal digits each, not the same
///     benchmarks   ["test_train[dlrm-cpu-eager]", ...], each once, of the fleet's device
///     fleet        may be missing when there is only one
///     metric       "latency" unless given
///     threshold    0.07 unless given; a fraction
///     direction    "increase" unless given
///     prior        "uniform" or "paths"; `prior` unless given
///     again        id of one of `bisections`: whatever else is not given is as it was there
///
/// or returns everything that is wrong with it. Of a bisection that is asked for again, benchmarks,
/// fleet and metric each take the place of what its series had.
boost::system::result<BisectionRequest, std::vector<net::FieldError>> parse_bisection_request(
    std::string const& body,
    std::span<config::FleetOptions const> fleets,
    storage::Bisections const& bisections,
    Prior prior);

}  // namespace torchwatch::api
