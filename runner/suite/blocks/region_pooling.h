#pragma once

/// RoI Align: He et al., "Mask R-CNN", 2017 (arXiv 1703.06870). LibTorch has no such operator:
/// `grid_sample` takes the bilinear samples, and their means are pooled.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

namespace torchwatch::suite {

struct PoolOptions {
  std::int64_t size = 7;     ///< bins along each side
  std::int64_t samples = 2;  ///< along each side of a bin
  bool aligned = false;      ///< a pixel's value is at its center, not at its corner
  double canonical = 224;    ///< side of the box that belongs to the level of stride 16
};

/// `map`: [channels, height, width]; `boxes`: [n, 4] inside the picture, of which `map` has one
/// value in each `stride` pixels. -> [n, channels, size, size] of the type of `map`.
torch::Tensor pool_regions(torch::Tensor const& map,
                           torch::Tensor const& boxes,
                           std::int64_t stride,
                           PoolOptions const& options);

/// Pools `boxes` of several pictures from several levels, [pictures, channels, height, width]:
/// larger boxes from coarser levels. -> [all boxes, channels, size, size].
torch::Tensor pool_regions(std::vector<torch::Tensor> const& levels,
                           std::vector<torch::Tensor> const& boxes,
                           std::vector<std::int64_t> const& strides,
                           PoolOptions const& options);

}  // namespace torchwatch::suite
