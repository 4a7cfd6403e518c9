#pragma once

#include <string>
#include <vector>

#include <boost/system/result.hpp>

#include "daemon/net/http_message.h"
#include "storage/domain/bisection.h"

namespace torchwatch::api {

/// Reads the body of `POST /api/v1/bisections/{id}`, a JSON object of
///
///     state        "paused", "queued" to resume, "cancelled"
///
/// or returns everything that is wrong with it.
boost::system::result<BisectionState, std::vector<net::FieldError>> parse_steering_request(
    std::string const& text);

}  // namespace torchwatch::api
