#pragma once

#include <cstdint>
#include <filesystem>

#include "storage/base/result.h"
#include "tests/lab/history.h"

namespace torchwatch::lab {

/// The arguments of `generate`.
struct Request {
  std::filesystem::path scenario;  ///< LAB/scenarios/NAME.json; other files are read from LAB
  std::filesystem::path out;       ///< created; must not contain files of another lab
  std::uint64_t seed = 1;
  Contents contents = Contents::kernels;
  /// The worker in the configuration (`measure.worker`); empty: the service's default.
  std::filesystem::path worker;
};

/// Writes out/repository, out/truth.json and out/torchwatch.json. For a scenario with a dependency,
/// also writes out/recipe and out/dependencies. Fails when out/repository exists.
Result<> generate(Request const& request);

}  // namespace torchwatch::lab
