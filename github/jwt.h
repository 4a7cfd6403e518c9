#pragma once

#include <string>

#include "storage/base/clock.h"
#include "storage/base/result.h"

namespace torchwatch::github {

/// Returns the JSON Web Token (RS256) by which a GitHub App authenticates itself. It begins a
/// minute before `now`, since clocks differ, and ends nine minutes after `now`; GitHub allows ten.
/// `private_key`: the text of the PEM file that GitHub makes for the App. Fails with
/// invalid_argument when that is not an RSA key without a password. Messages never show the key.
Result<std::string> app_jwt(std::string const& client_id,
                            std::string const& private_key,
                            Timestamp now);

}  // namespace torchwatch::github
