#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/command/build.h"
#include "runner/command/runs.h"
#include "runner/protocol.h"

namespace torchwatch::command {

/// The parts of a benchmark's name, "test_TEST[MODEL-DEVICE-BACKEND]".
struct Name {
  std::string test;
  std::string model;
  std::string device;
  std::string backend;
};

/// Reads a benchmark's name. Returns nothing for any other form. Pure.
std::optional<Name> parse_name(std::string const& benchmark);

/// Returns the metrics that the job's command must and may print. Pure.
Wanted wanted_by(protocol::Job const& job, Name const& name);

/// Returns the job's command with {model}, {test}, {device}, {backend} and {prefix} replaced. Other
/// text in braces stays. Pure.
std::vector<std::string> arguments_of(protocol::Job const& job,
                                      Name const& name,
                                      Build const& build);

using Variables = std::map<std::string, std::string>;

/// Returns the variables of the command: `inherited`, the TORCHWATCH_ variables that describe the
/// job, and, unless they are set, OMP_NUM_THREADS and variables with which the C library keeps
/// freed memory. Pure.
Variables environment_of(protocol::Job const& job,
                         Name const& name,
                         Build const& build,
                         Variables inherited);

/// Returns the variables of this process.
Variables own_variables();

/// Returns the variables as "NAME=value".
std::vector<std::string> entries_of(Variables const& variables);

}  // namespace torchwatch::command
