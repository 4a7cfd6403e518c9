#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

#include "storage/base/result.h"
#include "tests/years/request.h"

namespace torchwatch::years {

/// How much was written.
struct Written {
  std::filesystem::path database;
  std::size_t nightlies = 0;
  std::size_t series = 0;
};

/// Lives through a history in memory and writes what is left of it to `out`: state/ and
/// torchwatch.json, a configuration to serve it with. `progress`: called after each day with how
/// many there were and will be. Fails with invalid_argument when there is one already, or when
/// there are not as many series; with unavailable when it cannot be written. Throws when the
/// service fails.
Result<Written> write_history(Request const& request,
                              std::filesystem::path const& out,
                              std::function<void(std::size_t, std::size_t)> const& progress);

}  // namespace torchwatch::years
