#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runner/command/runs.h"
#include "runner/protocol.h"
#include "storage/base/result.h"

namespace torchwatch::command {

/// The samples of a job's metrics, from all runs of its command. Each metric has at most `runs`
/// samples; later ones are dropped.
class Samples {
 public:
  Samples(Wanted wanted, std::size_t runs) : wanted_{std::move(wanted)}, runs_{runs} {}

  /// Adds the samples of one run. Fails with `corrupt`, and names both values, when an exact metric
  /// differs from an earlier run.
  Result<> add(Run const& run);

  /// Returns the number of samples that each required metric has at least.
  std::size_t count() const;

  /// True when each required metric has all its samples.
  bool is_complete() const { return count() >= runs_; }

  /// Returns the value of each metric: of an exact one its only value, of the others the median,
  /// with samples and outliers.
  std::map<std::string, protocol::Value> values() const;

 private:
  bool is_exact(std::string const& metric) const;

  Wanted wanted_;
  std::size_t runs_;
  std::map<std::string, std::vector<double>> samples_;
};

}  // namespace torchwatch::command
