#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

#include "storage/base/result.h"
#include "tests/years/request.h"

namespace torchwatch::years {

/// The result: the database's path and the numbers of nightlies and series in it.
struct Written {
  std::filesystem::path database;
  std::size_t nightlies = 0;
  std::size_t series = 0;
};

/// Runs a history in memory and writes its results to `out`: state/, and torchwatch.json to serve
/// it. Calls `progress` after each day with the numbers of days done and in all. Fails with
/// invalid_argument when `out` has a history already or too many series are requested, and with
/// unavailable when it cannot write. Throws when the service fails.
Result<Written> write_history(Request const& request,
                              std::filesystem::path const& out,
                              std::function<void(std::size_t, std::size_t)> const& progress);

}  // namespace torchwatch::years
