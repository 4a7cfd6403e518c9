#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

#include "config/options.h"
#include "storage/base/result.h"

namespace torchwatch::config {

/// Reads a configuration file, JSON with comments. Relative paths in it are relative to its
/// directory. On failure the message holds everything that is wrong, a line each: "FILE:LINE: key:
/// found ..., allowed ...".
Result<Options> load(std::filesystem::path const& file);

/// All fields as a configuration file would have them, defaults filled in. Holds no secrets: the
/// configuration names the files and variables that hold them, and those are not read here.
nlohmann::ordered_json show(Options options);

/// JSON Schema (draft 2020-12) of the configuration file, for editors.
nlohmann::ordered_json schema();

}  // namespace torchwatch::config
