#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "daemon/setup/check.h"

namespace torchwatch::cli {

/// True when every check is good.
bool are_good(std::vector<setup::Check> const& checks);

/// A table for people, one line per check: name, good or bad, seconds, finding.
std::string table_of(std::vector<setup::Check> const& checks);

/// The table as JSON: {"is_good", "checks": [{"what", "is_good", "found", "seconds"}]}.
nlohmann::ordered_json json_of(std::vector<setup::Check> const& checks);

}  // namespace torchwatch::cli
