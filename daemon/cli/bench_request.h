#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/cli/commands.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::cli {

/// What `bench` is to measure.
struct BenchRequest {
  std::string prefix;  ///< empty: the LibTorch that the worker finds by itself
  std::vector<Benchmark> benchmarks;
  bool profile = false;    ///< also tell what operators cost
  std::int64_t batch = 0;  ///< samples in an iteration; 0: each model's own
  bool as_json = false;
};

/// Looks for the batch at which each of the request's benchmarks infers most samples a second.
int find_batch(config::Options const& options,
               Invocation const& invocation,
               BenchRequest const& request);

}  // namespace torchwatch::cli
