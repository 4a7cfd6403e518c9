#pragma once

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

/// What SQLite says about the file: "ok".
std::string integrity(std::filesystem::path const& state);

}  // namespace torchwatch::e2e
