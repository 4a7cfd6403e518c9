#include "runner/suite/blocks/objects.h"

#include <algorithm>

namespace torchwatch::suite {

using torch::Tensor;
namespace F = torch::nn::functional;

namespace {

/// First and last edge along one side of the picture, [n] each.
std::vector<Tensor> draw_edges(std::int64_t objects, std::int64_t side) {
  auto const extent = torch::rand(objects) * 0.5 + 0.1;
  auto const first = torch::rand(objects) * (1 - extent);
  return {first * side, (first + extent) * side};
}

/// Square of the distance from each box's center, 1 at its edges: [n, count].
Tensor distances(std::vector<Tensor> const& edges, std::int64_t count) {
  auto const center = (0.5 * (edges[0] + edges[1])).unsqueeze(1);
  auto const radius = (0.5 * (edges[1] - edges[0])).unsqueeze(1);
  return ((torch::arange(count) + 0.5 - center) / radius).square();
}

/// Positions of the pixels along one side, [n, count], from -1 at the box's first edge, [n, 1], to
/// 1 at its last.
Tensor relative(Tensor const& first, Tensor const& last, std::int64_t count) {
  auto const pixels = torch::arange(count, first.options()) + 0.5;
  return (pixels - first) / (last - first) * 2 - 1;
}

/// Around the same center.
Tensor grow_boxes(Tensor const& boxes, double factor) {
  auto const edge = boxes.unbind(1);
  auto const x = (edge[2] + edge[0]) * 0.5;
  auto const y = (edge[3] + edge[1]) * 0.5;
  auto const width = (edge[2] - edge[0]) * 0.5 * factor;
  auto const height = (edge[3] - edge[1]) * 0.5 * factor;
  return torch::stack({x - width, y - height, x + width, y + height}, 1);
}

}  // namespace

Detections Detections::at(Tensor const& indices) const {
  return {boxes.index({indices}), labels.index({indices}), scores.index({indices}), {}};
}

Tensor draw_scenes(Setup const& setup, PictureSize const& size) {
  constexpr std::int64_t patch = 16;
  auto const colours = torch::rand({setup.batch, 3, size.height / patch, size.width / patch});
  auto const noise = torch::rand({setup.batch, 3, size.height, size.width});
  auto const smooth = torch::upsample_bilinear2d(colours, {size.height, size.width}, false);
  return setup.place(0.7 * smooth + 0.3 * noise);
}

std::vector<Truth> draw_truths(Setup const& setup,
                               PictureSize const& size,
                               std::int64_t objects,
                               std::int64_t classes) {
  std::vector<Truth> truths;
  for (std::int64_t picture = 0; picture < setup.batch; ++picture) {
    auto const x = draw_edges(objects, size.width);
    auto const y = draw_edges(objects, size.height);
    auto const radii =
        distances(y, size.height).unsqueeze(2) + distances(x, size.width).unsqueeze(1);
    truths.push_back({torch::stack({x[0], y[0], x[1], y[1]}, 1).to(setup.device),
                      torch::randint(1, classes, objects, torch::kLong).to(setup.device),
                      (radii <= 1).to(setup.device)});
  }
  return truths;
}

Tensor paste_by_sampling(Tensor const& masks, Tensor const& boxes, PictureSize const& size) {
  auto const edges = boxes.split(1, 1);
  auto const x = relative(edges[0], edges[2], size.width).unsqueeze(1);
  auto const y = relative(edges[1], edges[3], size.height).unsqueeze(2);
  auto const grid =
      torch::stack({x.expand({-1, size.height, -1}), y.expand({-1, -1, size.width})}, -1);
  if (masks.size(0) == 0) return masks.new_zeros({0, size.height, size.width}, torch::kBool);
  auto const options = F::GridSampleFuncOptions().align_corners(false);
  return F::grid_sample(masks.unsqueeze(1), grid, options).select(1, 0) >= 0.5;
}

Tensor paste_by_resizing(Tensor const& masks, Tensor const& boxes, PictureSize const& size) {
  constexpr std::int64_t margin = 1;
  auto const side = masks.size(-1);
  auto const padded = torch::constant_pad_nd(masks, {margin, margin, margin, margin});
  auto const factor = static_cast<double>(side + 2 * margin) / static_cast<double>(side);
  auto const whole = grow_boxes(boxes, factor).to(torch::kLong).cpu();
  auto const edge = whole.accessor<std::int64_t, 2>();
  auto pictures = masks.new_zeros({masks.size(0), 1, size.height, size.width});
  for (std::int64_t i = 0; i < masks.size(0); ++i) {
    auto const left = edge[i][0], top = edge[i][1];
    auto const width = std::max<std::int64_t>(edge[i][2] - left + 1, 1);
    auto const height = std::max<std::int64_t>(edge[i][3] - top + 1, 1);
    auto const resized = torch::upsample_bilinear2d(
                             padded[i].view({1, 1, side + 2 * margin, -1}), {height, width}, false)
                             .view({height, width});
    auto const x = std::max<std::int64_t>(left, 0), right = std::min(edge[i][2] + 1, size.width);
    auto const y = std::max<std::int64_t>(top, 0), bottom = std::min(edge[i][3] + 1, size.height);
    auto const part = resized.slice(0, y - top, bottom - top).slice(1, x - left, right - left);
    pictures[i][0].slice(0, y, bottom).slice(1, x, right).copy_(part);
  }
  return pictures;
}

}  // namespace torchwatch::suite
