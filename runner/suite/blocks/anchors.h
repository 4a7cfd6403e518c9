#pragma once

/// Anchors: the boxes that a detector's predictions start from, some at each place of each level.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/boxes.h"

namespace torchwatch::suite {

struct AnchorOptions {
  std::vector<std::vector<double>> sizes;  ///< roots of areas, for each level
  std::vector<double> ratios{0.5, 1, 2};   ///< height / width
  std::vector<std::int64_t> strides;       ///< for each level; empty: picture / grid, rounded down
  double offset = 0;                       ///< offset of the first place, in strides
  bool rounded = false;                    ///< edges of the first place's to whole pixels
};

class Anchors {
 public:
  explicit Anchors(AnchorOptions options);

  /// Returns the anchors per place, equal at all levels.
  std::int64_t per_place() const { return cells_.front().size(0); }

  /// For each level, [height x width x per_place, 4]. `levels`: the feature maps, [..., height,
  /// width]; `picture`: the padded picture.
  std::vector<torch::Tensor> place(std::vector<torch::Tensor> const& levels,
                                   PictureSize const& picture);

 private:
  AnchorOptions options_;
  std::vector<torch::Tensor> cells_;
};

/// Predictions [batch, anchors x width, height, width] in single precision in the order of anchors,
/// [batch, height x width x anchors, width].
torch::Tensor by_anchor(torch::Tensor const& map, std::int64_t width);

}  // namespace torchwatch::suite
