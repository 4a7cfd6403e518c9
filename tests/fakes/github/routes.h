#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "github/transport.h"

namespace torchwatch::fakes {

/// GitHub's answer to a request that no limit and no fault stopped: who may ask, what the body must
/// be, where the repository is, and then the call itself. `state` is FakeGithub's.
github::Response route(nlohmann::json& state,
                       github::Request const& request,
                       std::string const& url);

}  // namespace torchwatch::fakes
