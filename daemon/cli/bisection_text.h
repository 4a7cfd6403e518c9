#pragma once

#include <string>

#include <nlohmann/json.hpp>

/// Texts of bisections for a terminal, made from the JSON of the HTTP API.
namespace torchwatch::cli {

/// Returns the text at `key` on one line: line breaks in it are escaped. Throws when it is missing.
std::string text(nlohmann::ordered_json const& json, char const* key);

/// Returns the short form, "3bb8db4bf099"; "-" for null.
std::string short_sha(nlohmann::ordered_json const& sha);

/// The belief after a step about the series of its benchmark that most certainly changed:
/// "latency 73% in 3bb8db4bf099..e275c308a59b".
std::string belief_after(nlohmann::ordered_json const& step);

/// One line about a finished step.
std::string line_of_step(nlohmann::ordered_json const& step);

/// Prints the state and the findings of a bisection. `bisection` is the full record, with steps.
void print_bisection(nlohmann::ordered_json const& bisection);

}  // namespace torchwatch::cli
