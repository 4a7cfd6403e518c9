#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/e2e/process.h"
#include "tests/e2e/service.h"
#include "tests/e2e/world.h"

// Requests for bisections of a running service, and checks of their state.
namespace torchwatch::e2e {

/// Returns the body of a request to bisect the series of the lab's first culprit.
nlohmann::json request_for_a_bisection(World const& world);

/// Requests that bisection, with `patch` merged into the body (RFC 7396). Returns the bisection's
/// URL.
std::string ask(World const& world,
                Service const& service,
                nlohmann::json const& patch = nlohmann::json::object());

/// Runs `torchwatch bisections` with the token.
Finished bisections(World& world, Service const& service, std::vector<std::string> arguments);

/// Expects that `command` printed the new state of bisection `id`.
void expect_steered(Finished const& command, std::string const& id, std::string const& state);

/// Waits until the bisection at `url` is done or has failed. Returns it.
nlohmann::json ended_bisection(Service const& service, std::string const& url);

/// Returns the number of a bisection's steps that are done.
std::ptrdiff_t done_in(nlohmann::json const& bisection);

/// Expects that the steps that were done in `before` are unchanged in `after`, so that they were
/// not repeated.
void expect_resumed(nlohmann::json const& before, nlohmann::json const& after);

/// True when the newest nightly is judged and reported.
bool is_at_rest(Service const& service);

}  // namespace torchwatch::e2e
