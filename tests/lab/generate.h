#pragma once

#include <cstdint>
#include <filesystem>

#include "storage/base/result.h"
#include "tests/lab/history.h"

namespace torchwatch::lab {

struct Request {
  std::filesystem::path scenario;  ///< LAB/scenarios/NAME.json; everything else is read from LAB
  std::filesystem::path out;       ///< created; may hold nothing the lab writes
  std::uint64_t seed = 1;
  Contents contents = Contents::kernels;
  std::filesystem::path
      worker;  ///< for the configuration's measure.worker; empty: the service's own
};

/// Writes out/repository, out/truth.json and out/torchwatch.json; for a scenario with a dependency
/// also out/recipe and out/dependencies.
Result<> generate(Request const& request);

}  // namespace torchwatch::lab
