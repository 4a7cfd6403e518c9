#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "github/transport.h"
#include "tests/fakes/github/wire.h"

/// GitHub Apps: their JSON Web Tokens and installation tokens. The App is in `settings.app` of
/// FakeGithub's state.
namespace torchwatch::fakes {

/// Returns the current time of the fake in seconds: `settings.now`, or with 0 the system's.
std::int64_t time_of(nlohmann::json const& state);

/// Returns GitHub's response to a request by which an App gets its installation or a token for it;
/// nothing for other requests. The request must carry the App's JSON Web Token.
std::optional<github::Response> app_call(nlohmann::json& state,
                                         github::Request const& request,
                                         Target const& target);

/// Returns the error of an installation token that is unknown or has expired, or whose installation
/// is suspended; nothing when it is valid.
std::optional<github::Response> token_error(nlohmann::json const& state, std::string const& token);

}  // namespace torchwatch::fakes
