#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/cli/commands.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::cli {

/// The measurements that `bench` is asked for.
struct BenchRequest {
  std::string prefix;  ///< directory of the build; empty: the LibTorch that the worker links
  std::vector<Benchmark> benchmarks;
  bool profile = false;    ///< also measure the cost of operators
  std::int64_t batch = 0;  ///< samples per iteration; 0: each model's own
  bool as_json = false;
};

/// Finds and prints the batch at which each benchmark infers most samples per second. Returns the
/// exit status: could_not_run when a benchmark fails even with a batch of one sample.
int find_batch(config::Options const& options,
               Invocation const& invocation,
               BenchRequest const& request);

}  // namespace torchwatch::cli
