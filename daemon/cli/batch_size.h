#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace torchwatch::cli {

/// The batch size at which a model infers most samples a second, as the TorchBench paper looks for
/// it (section 2.2): one sample, then doubled again and again until there is no memory for more or
/// the device is used no better. Pure.
class BatchSearch {
 public:
  struct Trial {
    std::int64_t batch = 0;
    double per_second = 0;  ///< samples; 0: failed
  };

  /// The next batch to measure; nothing when the search is over.
  std::optional<std::int64_t> next() const;

  /// What an iteration over the batch of `next` takes.
  void add_latency(double ms);

  /// The batch of `next` cannot be measured, for want of memory or whatever else.
  void add_failure();

  std::vector<Trial> const& trials() const { return trials_; }

  /// The fastest; nothing when not even one sample could be measured.
  std::optional<Trial> best() const;

 private:
  std::vector<Trial> trials_;
  int in_vain_ = 0;  ///< doublings in a row that brought next to nothing
  bool over_ = false;
};

}  // namespace torchwatch::cli
