#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>

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

/// What SQLite says about the file: "ok".
std::string integrity(std::filesystem::path const& state);

}  // namespace torchwatch::e2e
