#pragma once

#include <filesystem>

#include "config/complaints.h"
#include "config/options.h"
#include "config/value.h"

namespace torchwatch::config {

/// Fills in the defaults that depend on other fields. A suite with a command has the test `run`,
/// and its name as backend. Words of commands that name files next to the configuration become
/// absolute paths. Metrics of the native suite get its declaration. A suite named `native` replaces
/// `options.suite`. `json`: the whole file, whose suites have no errors.
void complete_suites(Json const& json, std::filesystem::path const& directory, Options& options);

/// Checks the rules for several fields of suites, and of fleets with suites.
void check_suites(Options const& options, Complaints& complaints);

}  // namespace torchwatch::config
