#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

#include "config/options.h"
#include "storage/base/result.h"

namespace torchwatch::config {

/// Reads a configuration file, JSON with comments. Relative paths in it are relative to its
/// directory. The message of a failure lists all errors, a line each: "FILE:LINE: key: found ...,
/// allowed ...".
Result<Options> load(std::filesystem::path const& file);

/// Returns all fields in the form of a configuration file, with defaults. Contains no secrets: the
/// configuration only names their files and variables, which are not read here.
nlohmann::ordered_json show(Options options);

/// Returns the JSON Schema (draft 2020-12) of the configuration file, for editors.
nlohmann::ordered_json schema();

}  // namespace torchwatch::config
