#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace torchwatch::command {

/// The build that a command measures.
struct Build {
  std::string prefix;    ///< absolute path; empty: the system's own PyTorch
  std::string version;   ///< "2.9.0.dev20251001+cpu"; empty: unknown
  std::string git_hash;  ///< empty: unknown
};

/// Finds the build at `prefix`, which is a path in the current directory or an absolute one.
Build find_build(std::string const& prefix);

/// Returns host, kernel, CPU model, governor, allowed CPUs, threads and version of the build, with
/// the names that torchwatch-worker uses. Unavailable values are empty strings.
nlohmann::json fingerprint(int threads, Build const& build);

}  // namespace torchwatch::command
