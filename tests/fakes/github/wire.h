#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "github/transport.h"

/// Requests and responses of GitHub's REST API, on the server's side.
namespace torchwatch::fakes {

/// The decoded parts of a target such as "/repos/a%2Fb?x=1".
struct Target {
  std::vector<std::string> path;  ///< a trailing slash leaves an empty last component
  std::map<std::string, std::string> query;
};

Target parse_target(std::string_view target);

/// Returns a response with a JSON body.
github::Response answer(int status, nlohmann::json const& body);

/// Returns an error response in GitHub's format.
github::Response problem(int status,
                         std::string const& message,
                         nlohmann::json const& errors = nlohmann::json::array());

/// Returns one page of `all` with its Link header. `place` is the absolute URL without the query.
/// Its links keep the other parameters of `query`. per_page: 30 by default, 100 at most.
github::Response page_of(std::vector<nlohmann::json> const& all,
                         std::string const& place,
                         std::map<std::string, std::string> query);

}  // namespace torchwatch::fakes
