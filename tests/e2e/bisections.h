#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/e2e/process.h"
#include "tests/e2e/service.h"
#include "tests/e2e/world.h"

// Bisections of a running service, as people ask for them, steer them and look at them.
namespace torchwatch::e2e {

/// The body that asks for the first culprit that the lab planted.
nlohmann::json request_for_a_bisection(World const& world);

/// Asks for that bisection, with other fields in place of some (RFC 7396), and returns where it
/// will be found.
std::string ask(World const& world,
                Service const& service,
                nlohmann::json const& patch = nlohmann::json::object());

/// Runs `torchwatch bisections` with the token.
Finished bisections(World& world, Service const& service, std::vector<std::string> arguments);

/// `command` told the new state of bisection `id`.
void expect_steered(Finished const& command, std::string const& id, std::string const& state);

/// Waits until the bisection at `url` is done or has failed, and returns it.
nlohmann::json ended_bisection(Service const& service, std::string const& url);

/// How many of a bisection's steps are done.
std::ptrdiff_t done_in(nlohmann::json const& bisection);

/// What was done of a bisection when it was cut off was not done again.
void expect_goes_on(nlohmann::json const& before, nlohmann::json const& after);

/// The newest nightly is judged and told.
bool is_at_rest(Service const& service);

}  // namespace torchwatch::e2e
