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
///     build        a build's name; for fetch, a nightly's date or name; not for prune
///     who, why     text, for pin and fetch
///
/// or returns everything that is wrong with it.
boost::system::result<builds::BuildRequest, std::vector<http::FieldError>> parse_build_request(
    std::string const& text);

}  // namespace torchwatch::api
