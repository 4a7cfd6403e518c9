#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "github/transport.h"

/// GitHub's dialect of HTTP as a server speaks it.
namespace torchwatch::fakes {

/// "/repos/a%2Fb?x=1" taken apart and decoded.
struct Target {
  std::vector<std::string> path;  ///< a trailing slash leaves an empty last component
  std::map<std::string, std::string> query;
};

Target parse_target(std::string_view target);

github::Response answer(int status, nlohmann::json const& body);

/// An error as GitHub words them.
github::Response problem(int status,
                         std::string const& message,
                         nlohmann::json const& errors = nlohmann::json::array());

/// One page of `all` with its Link header. `place` is the absolute URL without the query, whose
/// other parameters are kept. per_page: 30 by default, 100 at most.
github::Response page_of(std::vector<nlohmann::json> const& all,
                         std::string const& place,
                         std::map<std::string, std::string> query);

}  // namespace torchwatch::fakes
