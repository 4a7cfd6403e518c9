#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace torchwatch::e2e {

/// Returns every measurement in a service's database as one text with its key, values and time.
/// Empty while there is no database. May be called while the service writes.
std::set<std::string> stored_results(std::filesystem::path const& state);

/// Returns the number of measurement keys that are stored more than once.
int keys_stored_twice(std::filesystem::path const& state);

/// Returns the benchmarks with values, by the version of PyTorch that ran them.
std::map<std::string, std::set<std::string>> measured_by_version(
    std::filesystem::path const& state);

/// Moves the time of last use of all builds back by `age`, because builds in recent use are not
/// removed.
void let_builds_age(std::filesystem::path const& state, std::chrono::seconds age);

/// The time span of one measurement, as the scripted worker reports it.
struct WorkedSpan {
  std::string fleet;
  std::string campaign;
  int gpu = -1;         ///< -1: not on a GPU
  double began_at = 0;  ///< seconds since 1970
  double ended_at = 0;  ///< seconds since 1970
};

/// Returns the spans of all measurements with values, in the order in which they began. Workers
/// report them when SCRIPTED_WORKER_TIMES is set.
std::vector<WorkedSpan> worked_spans(std::filesystem::path const& state);

/// Returns the result of SQLite's integrity check: "ok" for a sound file.
std::string integrity(std::filesystem::path const& state);

}  // namespace torchwatch::e2e
