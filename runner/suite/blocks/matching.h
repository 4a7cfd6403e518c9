#pragma once

/// The assignment of boxes to true boxes by their overlap, and the random choice of the boxes to
/// learn from, as in region-based detectors.

#include <cstdint>

#include <torch/torch.h>

namespace torchwatch::suite {

struct Matching {
  torch::Tensor truth;  ///< [boxes]: the true box that each overlaps most
  torch::Tensor label;  ///< [boxes]: 1 a match, 0 background, -1 neither
};

/// `overlaps`: [true boxes, boxes]. From `high` on a box is a match, below `low` background. With
/// `keep_best` the best box of each true one is a match however little they overlap.
Matching match(torch::Tensor const& overlaps, double low, double high, bool keep_best);

struct Sample {
  torch::Tensor positive, negative;  ///< indices
};

/// Draws `count` boxes, as far as there are so many: no more than `share` of them with a label
/// above 0, the others with label 0.
Sample draw_sample(torch::Tensor const& labels, std::int64_t count, double share);

}  // namespace torchwatch::suite
