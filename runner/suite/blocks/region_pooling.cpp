#include "runner/suite/blocks/region_pooling.h"

#include <algorithm>
#include <cmath>

#include "runner/suite/blocks/boxes.h"

namespace torchwatch::suite {

using torch::Tensor;
namespace F = torch::nn::functional;

namespace {

/// Positions of samples along one side, [n, samples], from -1 at the first value to 1 at the last.
Tensor sample_points(Tensor const& first,
                     Tensor const& last,
                     std::int64_t values,
                     PoolOptions const& options) {
  auto const count = options.size * options.samples;
  auto const extent = options.aligned ? last - first : (last - first).clamp_min(1);
  auto const share = (torch::arange(count, first.options()) + 0.5) / count;
  auto const points = first.unsqueeze(1) + extent.unsqueeze(1) * share;
  return points * (2.0 / static_cast<double>(std::max<std::int64_t>(values - 1, 1))) - 1;
}

/// [n]: which of the levels each box belongs to.
Tensor choose_levels(Tensor const& boxes,
                     std::vector<std::int64_t> const& strides,
                     PoolOptions const& options) {
  auto const stride = 16.0 / static_cast<double>(strides.front());
  auto const level = (box_areas(boxes).sqrt() / options.canonical).log2() + std::log2(stride);
  return (level + 1e-6).floor().clamp(0, static_cast<double>(strides.size() - 1)).to(torch::kLong);
}

}  // namespace

Tensor pool_regions(Tensor const& map,
                    Tensor const& boxes,
                    std::int64_t stride,
                    PoolOptions const& options) {
  auto const count = boxes.size(0);
  auto const channels = map.size(0);
  auto const side = options.size * options.samples;
  auto const edges = boxes / static_cast<double>(stride) - (options.aligned ? 0.5 : 0.0);
  auto const edge = [&](std::int64_t index) {
    return edges.select(1, index);
  };
  auto const x = sample_points(edge(0), edge(2), map.size(2), options).unsqueeze(1);
  auto const y = sample_points(edge(1), edge(3), map.size(1), options).unsqueeze(2);
  auto const grid = torch::stack({x.expand({-1, side, -1}), y.expand({-1, -1, side})}, -1);
  auto const samples = F::grid_sample(map.unsqueeze(0).to(torch::kFloat),
                                      grid.view({1, count * side, side, 2}),
                                      F::GridSampleFuncOptions()
                                          .mode(torch::kBilinear)
                                          .padding_mode(torch::kBorder)
                                          .align_corners(true));
  auto const means = torch::avg_pool2d(samples, options.samples);
  return means.view({channels, count, options.size, options.size}).transpose(0, 1).to(map.dtype());
}

Tensor pool_regions(std::vector<Tensor> const& levels,
                    std::vector<Tensor> const& boxes,
                    std::vector<std::int64_t> const& strides,
                    PoolOptions const& options) {
  std::int64_t count = 0;
  for (auto const& own : boxes)
    count += own.size(0);
  auto const& finest = levels.front();
  auto pooled = finest.new_zeros({count, finest.size(1), options.size, options.size});
  std::int64_t before = 0;
  for (std::size_t picture = 0; picture < boxes.size(); ++picture) {
    auto const level_of = choose_levels(boxes[picture], strides, options);
    for (std::size_t level = 0; level < strides.size(); ++level) {
      auto const here = find(level_of == static_cast<std::int64_t>(level));
      if (here.size(0) == 0) continue;
      auto const map = levels[level][static_cast<std::int64_t>(picture)];
      auto const regions = boxes[picture].index({here});
      pooled.index_put_({here + before}, pool_regions(map, regions, strides[level], options));
    }
    before += boxes[picture].size(0);
  }
  return pooled;
}

}  // namespace torchwatch::suite
