#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace torchwatch::e2e {

/// Every measurement in a service's database, one text each that holds its key, its values and when
/// it was taken. Empty while there is no database. May be read while the service writes.
std::set<std::string> stored_results(std::filesystem::path const& state);

/// How many keys of measurements are stored more than once.
int keys_stored_twice(std::filesystem::path const& state);

/// The benchmarks that gave values, by the version of PyTorch that measured them.
std::map<std::string, std::set<std::string>> measured_by_version(
    std::filesystem::path const& state);

/// Has all builds that are kept be used so long ago: those just used are not removed.
void let_builds_age(std::filesystem::path const& state, std::chrono::seconds age);

/// When a scripted worker measured, by its own account.
struct WorkedSpan {
  std::string fleet;
  std::string campaign;
  int gpu = -1;  ///< -1: on none
  double began_at = 0;
  double ended_at = 0;  ///< seconds since 1970
};

/// In the order in which they began.
std::vector<WorkedSpan> worked_spans(std::filesystem::path const& state);

/// What SQLite says about the file: "ok".
std::string integrity(std::filesystem::path const& state);

}  // namespace torchwatch::e2e
