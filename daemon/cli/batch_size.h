#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace torchwatch::cli {

/// Finds the batch size at which a model infers most samples per second, as in section 2.2 of the
/// TorchBench paper. It starts with one sample and doubles the batch until memory runs out or
/// throughput stops growing. It measures nothing itself.
class BatchSearch {
 public:
  struct Trial {
    std::int64_t batch = 0;
    double per_second = 0;  ///< samples per second; 0: failed
  };

  /// The next batch to measure; nothing when the search is over.
  std::optional<std::int64_t> next() const;

  /// Adds the time of an iteration with the batch of `next`.
  void add_latency(double ms);

  /// Ends the search: the batch of `next` failed, usually for lack of memory.
  void add_failure();

  std::vector<Trial> const& trials() const { return trials_; }

  /// Returns the fastest trial; nothing when a batch of one sample failed.
  std::optional<Trial> best() const;

 private:
  std::vector<Trial> trials_;
  int in_vain_ = 0;  ///< doublings in a row that gained less than 5%
  bool over_ = false;
};

}  // namespace torchwatch::cli
