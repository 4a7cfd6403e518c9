#include "runner/suite/blocks/boxes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace torchwatch::suite {

using torch::Tensor;

namespace {

/// Center and size, [...] each.
struct Shape {
  Tensor x, y, width, height;
};

Shape shape_of(Tensor const& boxes) {
  auto const left = boxes.select(-1, 0);
  auto const top = boxes.select(-1, 1);
  auto const width = boxes.select(-1, 2) - left;
  auto const height = boxes.select(-1, 3) - top;
  return {left + 0.5 * width, top + 0.5 * height, width, height};
}

}  // namespace

Tensor box_areas(Tensor const& boxes) {
  return (boxes.select(1, 2) - boxes.select(1, 0)) * (boxes.select(1, 3) - boxes.select(1, 1));
}

Tensor pairwise_iou(Tensor const& some, Tensor const& others) {
  auto const low = torch::maximum(some.slice(1, 0, 2).unsqueeze(1), others.slice(1, 0, 2));
  auto const high = torch::minimum(some.slice(1, 2, 4).unsqueeze(1), others.slice(1, 2, 4));
  auto const common = (high - low).clamp_(0).prod(-1);
  return common / (box_areas(some).unsqueeze(1) + box_areas(others) - common);
}

Tensor clip_boxes(Tensor const& boxes, PictureSize const& size) {
  return torch::stack({boxes.select(-1, 0).clamp(0, size.width),
                       boxes.select(-1, 1).clamp(0, size.height),
                       boxes.select(-1, 2).clamp(0, size.width),
                       boxes.select(-1, 3).clamp(0, size.height)},
                      -1);
}

Tensor resize_boxes(Tensor const& boxes, PictureSize const& from, PictureSize const& to) {
  auto const edge = boxes.unbind(-1);
  auto const x = static_cast<float>(to.width) / static_cast<float>(from.width);
  auto const y = static_cast<float>(to.height) / static_cast<float>(from.height);
  return torch::stack({edge[0] * x, edge[1] * y, edge[2] * x, edge[3] * y}, -1);
}

Tensor are_longer(Tensor const& boxes, double side) {
  auto const width = boxes.select(1, 2) - boxes.select(1, 0);
  auto const height = boxes.select(1, 3) - boxes.select(1, 1);
  return (width > side) & (height > side);
}

Tensor find(Tensor const& chosen) {
  return chosen.nonzero_numpy().front();
}

Tensor BoxCoder::encode(Tensor const& boxes, Tensor const& anchors) const {
  auto const box = shape_of(boxes);
  auto const anchor = shape_of(anchors);
  return torch::stack({weights[0] * (box.x - anchor.x) / anchor.width,
                       weights[1] * (box.y - anchor.y) / anchor.height,
                       weights[2] * (box.width / anchor.width).log(),
                       weights[3] * (box.height / anchor.height).log()},
                      -1);
}

Tensor BoxCoder::decode(Tensor const& deltas, Tensor const& anchors) const {
  auto const most = std::log(1000.0 / 16);
  auto const anchor = shape_of(anchors);
  auto const x = deltas.select(-1, 0) / weights[0] * anchor.width + anchor.x;
  auto const y = deltas.select(-1, 1) / weights[1] * anchor.height + anchor.y;
  auto const growth = [&](std::int64_t side) {
    auto const delta = deltas.select(-1, side) / weights[static_cast<std::size_t>(side)];
    return 0.5 * delta.clamp({}, most).exp();
  };
  auto const width = growth(2) * anchor.width;
  auto const height = growth(3) * anchor.height;
  return torch::stack({x - width, y - height, x + width, y + height}, -1);
}

Tensor suppress(Tensor const& boxes, Tensor const& scores, Tensor const& groups, double threshold) {
  constexpr std::int64_t rows = 2048;  // at a time, for the sake of memory
  auto const order = std::get<1>(scores.sort(/*stable=*/true, 0, /*descending=*/true));
  auto const sorted = boxes.index({order});
  auto const group = groups.index({order});
  auto const count = sorted.size(0);
  std::vector<std::uint8_t> dropped(static_cast<std::size_t>(count), 0);
  std::vector<std::int64_t> kept;
  for (std::int64_t start = 0; start < count; start += rows) {
    auto const stop = std::min(start + rows, count);
    auto const near =
        pairwise_iou(sorted.slice(0, start, stop), sorted.slice(0, start)) > threshold;
    auto const rivals = group.slice(0, start, stop).unsqueeze(1) == group.slice(0, start);
    auto const beaten = (near & rivals).cpu().contiguous();
    auto const* row = beaten.data_ptr<bool>();
    for (auto i = start; i < stop; ++i, row += count - start) {
      if (dropped[static_cast<std::size_t>(i)] != 0) continue;
      kept.push_back(i);
      auto* const later = dropped.data() + start;
      for (auto j = i + 1 - start; j < count - start; ++j)
        later[j] = static_cast<std::uint8_t>(later[j] | static_cast<std::uint8_t>(row[j]));
    }
  }
  return order.index({torch::tensor(kept, torch::kLong).to(order.device())});
}

}  // namespace torchwatch::suite
