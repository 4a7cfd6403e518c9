#include "runner/suite/blocks/anchors.h"

#include <cmath>
#include <utility>

namespace torchwatch::suite {

using torch::Tensor;

namespace {

/// Around the origin, [ratios x sizes, 4].
Tensor make_cell(std::vector<double> const& sizes, AnchorOptions const& options) {
  std::vector<Tensor> boxes;
  for (double const ratio : options.ratios) {
    for (double const size : sizes) {
      auto const right = 0.5 * size / std::sqrt(ratio);
      auto const bottom = 0.5 * size * std::sqrt(ratio);
      boxes.push_back(torch::tensor({-right, -bottom, right, bottom}, torch::kFloat));
    }
  }
  auto const cell = torch::stack(boxes);
  return options.rounded ? cell.round() : cell;
}

Tensor shifts(std::int64_t count, std::int64_t stride, double offset, Tensor const& like) {
  auto const step = static_cast<double>(stride);
  return torch::arange(offset * step, static_cast<double>(count) * step, step, like.options());
}

}  // namespace

Anchors::Anchors(AnchorOptions options) : options_(std::move(options)) {
  for (auto const& sizes : options_.sizes)
    cells_.push_back(make_cell(sizes, options_));
}

std::vector<Tensor> Anchors::place(std::vector<Tensor> const& levels, PictureSize const& picture) {
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    auto const height = levels[i].size(-2);
    auto const width = levels[i].size(-1);
    bool const given = !options_.strides.empty();
    auto& cell = cells_[i];
    cell = cell.to(levels[i].device());
    auto const down = given ? options_.strides[i] : picture.height / height;
    auto const right = given ? options_.strides[i] : picture.width / width;
    auto const y =
        shifts(height, down, options_.offset, cell).view({-1, 1}).expand({height, width});
    auto const x = shifts(width, right, options_.offset, cell).expand({height, width});
    auto const shift = torch::stack({x, y, x, y}, -1).view({-1, 1, 4});
    all.push_back((shift + cell).view({-1, 4}));
  }
  return all;
}

Tensor by_anchor(Tensor const& map, std::int64_t width) {
  auto const batch = map.size(0);
  auto const split = map.view({batch, -1, width, map.size(2), map.size(3)});
  return split.permute({0, 3, 4, 1, 2}).reshape({batch, -1, width}).to(torch::kFloat);
}

}  // namespace torchwatch::suite
