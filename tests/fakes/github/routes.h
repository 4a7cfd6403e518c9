#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "github/transport.h"

namespace torchwatch::fakes {

/// Returns GitHub's response to a request that no limit and no fault stopped. Checks token, body
/// and repository, then makes the call. `state` is FakeGithub's. `url` is the server's, for links.
github::Response route(nlohmann::json& state,
                       github::Request const& request,
                       std::string const& url);

}  // namespace torchwatch::fakes
