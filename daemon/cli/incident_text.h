#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "daemon/cli/terminal.h"
#include "storage/base/clock.h"

/// Texts of incidents for a terminal, made from the JSON of the HTTP API.
namespace torchwatch::cli {

/// The columns of a table of incidents.
Row head_of_incidents();

/// Returns the row of an incident in that table. `now`: the time for its age.
Row row_of_incident(nlohmann::ordered_json const& incident, Timestamp now);

/// Returns a time that has passed in words: "12 min", "5 h", "3 days".
std::string age_text(std::chrono::seconds age);

/// Prints an incident: its state and culprit, at most `most` of its series, and its timeline with
/// what was published. `incident` is the full record.
void print_incident(nlohmann::ordered_json const& incident, Timestamp now, std::size_t most);

}  // namespace torchwatch::cli
