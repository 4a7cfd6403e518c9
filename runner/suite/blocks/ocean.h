#pragma once

/// Parts that the kernels of an ocean model share: Häfner et al., "Fast, cheap, and turbulent:
/// global ocean modeling with GPU acceleration in Python", 2021, and its
/// dionhaefner/pyhpc-benchmarks. Fields have double precision for every setup, as upstream: where
/// the water does not change with depth, a slope is divided by 1e-20 and squared.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runner/suite/workload.h"

namespace torchwatch::suite {

/// Draws fields on the setup's device.
class Ocean {
 public:
  /// Cells eastward, northward and upward.
  struct Grid {
    std::int64_t east, north, up;

    std::vector<std::int64_t> shape() const { return {east, north, up}; }
  };

  /// Eight times as wide as high, of at least the setup's batch of cells.
  explicit Ocean(Setup const& setup);

  Grid const& grid() const { return grid_; }

  /// Normally distributed numbers, one a cell, and `more` in further dimensions.
  torch::Tensor field(std::vector<std::int64_t> const& more = {}) const;

  /// 1 for four cells in five, else 0.
  torch::Tensor mask() const;

  /// Normally distributed numbers along one direction, shaped to be multiplied with fields.
  torch::Tensor eastward() const;
  torch::Tensor northward() const;
  torch::Tensor upward() const;

  /// Numbers between `low` and `high`.
  torch::Tensor between(double low, double high, std::vector<std::int64_t> const& shape) const;

  torch::Device device() const { return device_; }

 private:
  torch::Tensor normal(std::vector<std::int64_t> const& shape) const;

  Grid grid_;
  torch::Device device_;
};

namespace ocean {

constexpr std::int64_t vertical = 2;  ///< the third axis

/// Cells from `first` to `last` (negative: from the end, 0: to the end) along an axis.
torch::Tensor cut(torch::Tensor const& x, std::int64_t axis, std::int64_t first, std::int64_t last);

/// Cells two or more away from the sides.
torch::Tensor inner(torch::Tensor const& x);

}  // namespace ocean

/// Evaluates `kernel` again and again; there is nothing to train.
std::unique_ptr<Workload> make_kernel(Setup const& setup,
                                      std::function<std::vector<torch::Tensor>()> kernel);

}  // namespace torchwatch::suite
