#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tests/years/request.h"

namespace torchwatch::years {

/// How much was written.
struct Written {
  std::size_t nightlies = 0;
  std::size_t series = 0;
  std::vector<std::string> models;
  std::vector<std::string> fleets;
};

/// Writes a whole history into a store that is empty, night by night, in the order in which the
/// service would have. `state_dir`: the service's, as the history tells where builds lie.
/// `progress`: called after each night with how many there are and will be. Fails with
/// invalid_argument when there are not as many series.
Result<Written> write_years(Request const& request,
                            storage::Store& store,
                            std::filesystem::path const& state_dir,
                            std::function<void(std::size_t, std::size_t)> const& progress);

}  // namespace torchwatch::years
