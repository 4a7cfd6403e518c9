#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "daemon/setup/check.h"

namespace torchwatch::cli {

/// Whether nothing is bad.
bool are_good(std::vector<setup::Check> const& checks);

/// A line each, in columns, for people: what, good or bad, how long it took, what was found.
std::string table_of(std::vector<setup::Check> const& checks);

/// {"is_good", "checks": [{"what", "is_good", "found", "seconds"}]}.
nlohmann::ordered_json json_of(std::vector<setup::Check> const& checks);

}  // namespace torchwatch::cli
