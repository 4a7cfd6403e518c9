#pragma once

#include <string>

#include <nlohmann/json.hpp>

/// Bisections for a terminal, laid out from what the HTTP API says of them.
namespace torchwatch::cli {

/// The text at `key`, which has to be there, fit for one line: a line break in it is escaped.
std::string text(nlohmann::ordered_json const& json, char const* key);

/// "3bb8db4bf099"; "-" for null.
std::string short_sha(nlohmann::ordered_json const& sha);

/// What was believed, after a step, of the series of its benchmark that changed most surely:
/// "latency 73% in 3bb8db4bf099..e275c308a59b".
std::string belief_after(nlohmann::ordered_json const& step);

/// A step that is done, in one line.
std::string line_of_step(nlohmann::ordered_json const& step);

/// Prints how a bisection stands, and what it found. `bisection`: in full, with its steps.
void print_bisection(nlohmann::ordered_json const& bisection);

}  // namespace torchwatch::cli
