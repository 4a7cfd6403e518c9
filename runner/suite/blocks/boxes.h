#pragma once

/// Boxes: rows of left, top, right and bottom edge in pixels. Always of single precision: half
/// precision cannot represent the position of a pixel.

#include <array>
#include <cstdint>

#include <torch/torch.h>

namespace torchwatch::suite {

struct PictureSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

torch::Tensor box_areas(torch::Tensor const& boxes);

/// Intersection over union of each of n boxes with each of m: [n, m].
torch::Tensor pairwise_iou(torch::Tensor const& some, torch::Tensor const& others);

torch::Tensor clip_boxes(torch::Tensor const& boxes, PictureSize const& size);

/// Scales boxes like a picture that is resized.
torch::Tensor resize_boxes(torch::Tensor const& boxes,
                           PictureSize const& from,
                           PictureSize const& to);

/// Returns truth values [n]: true when both sides of a box are longer than `side`.
torch::Tensor are_longer(torch::Tensor const& boxes, double side);

/// Returns the indices at which a vector of truth values is true.
torch::Tensor find(torch::Tensor const& chosen);

/// A box relative to another: shift of the center and logarithm of the growth, each weighted.
struct BoxCoder {
  std::array<double, 4> weights{1, 1, 1, 1};

  /// All [..., 4].
  torch::Tensor encode(torch::Tensor const& boxes, torch::Tensor const& anchors) const;
  torch::Tensor decode(torch::Tensor const& deltas, torch::Tensor const& anchors) const;
};

/// Greedy non-maximum suppression within each group: of two boxes of a group that overlap more than
/// `threshold` only the better stays. Returns the indices of those that stay, best first.
torch::Tensor suppress(torch::Tensor const& boxes,
                       torch::Tensor const& scores,
                       torch::Tensor const& groups,
                       double threshold);

}  // namespace torchwatch::suite
