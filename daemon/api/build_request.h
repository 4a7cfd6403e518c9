#pragma once

#include <string>
#include <vector>

#include <boost/system/result.hpp>

#include "daemon/builds/build_request.h"
#include "daemon/http/http_message.h"

namespace torchwatch::api {

/// Reads the body of `POST /api/v1/builds`, a JSON object of
///
///     action       "pin", "unpin", "remove", "prune", "fetch"
///     build        name of a build; for fetch, date of a nightly or name of its build; not for
///                  prune
///     who, why     text, for pin and fetch
///
/// or returns all errors in it.
boost::system::result<builds::BuildRequest, std::vector<http::FieldError>> parse_build_request(
    std::string const& text);

}  // namespace torchwatch::api
