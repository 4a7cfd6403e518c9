#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "daemon/suite_try/checks.h"

namespace torchwatch::cli {

/// A table for people: a line for each check, and below a failure how to mend it.
std::string table_of(std::vector<suite_try::CheckResult> const& results);

/// The table as JSON: {"has_passed", "benchmark", "prefix", "checks": [{"check", "state", "found",
/// "mend"}]}; "mend" only for failures.
nlohmann::ordered_json json_of(std::vector<suite_try::CheckResult> const& results,
                               std::string const& benchmark,
                               std::string const& prefix);

}  // namespace torchwatch::cli
