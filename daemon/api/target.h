#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::api {

/// Query parameters by name, decoded.
using Query = std::map<std::string, std::string>;

/// The decoded target of a request.
struct Target {
  std::vector<std::string> path;  ///< segments: "/api/v1" is "api", "v1"
  Query query;
};

/// Reads the target of a request: "/path?query" or "http://host/path?query". Fails with
/// invalid_argument on other forms, on a '%' without two hexadecimal digits, and on a repeated
/// parameter.
Result<Target> parse_target(std::string_view text);

}  // namespace torchwatch::api
