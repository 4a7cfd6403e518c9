#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "github/transport.h"
#include "tests/fakes/github/wire.h"

/// The part of the fake that people change: comments, reactions, permissions, closings. Its state
/// is that of FakeGithub.
namespace torchwatch::fakes {

/// Returns the response to a call below the repository that lists all comments, that adds or lists
/// reactions, or that reads a permission. Nothing for any other call. `rest`: the path after the
/// repository. `url`: the server's, for links.
std::optional<github::Response> people_call(nlohmann::json& state,
                                            github::Request const& request,
                                            Target const& target,
                                            std::vector<std::string> const& rest,
                                            std::string const& url);

/// Changes the state as people do on GitHub's pages. Members of `change`:
///
///     comments  [{"issue": 1, "user": "ada", "body", ...}]; further members replace the defaults
///     edited    {"3": {"body", "updated_at"}}: comments by id
///     closings  {"1": {"by": "ada", "at", "state_reason"}}: issues by number
void change_by_people(nlohmann::json& state, nlohmann::json const& change);

}  // namespace torchwatch::fakes
