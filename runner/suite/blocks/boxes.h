#pragma once

/// Boxes of detectors: [count, 4], the lower corner's two coordinates and then the upper corner's.

#include <torch/torch.h>

namespace torchwatch::suite {

/// [count of a, count of b]: the shared area by the joint area.
torch::Tensor intersection_over_union(torch::Tensor const& a, torch::Tensor const& b);

/// Boxes relative to anchors, and back: how far the centres are apart, in anchors, and the
/// logarithms of how often the anchor's sides go into the box's. Ren et al., "Faster R-CNN", 2015
/// (arXiv 1506.01497).
torch::Tensor encode_boxes(torch::Tensor const& boxes, torch::Tensor const& anchors);
torch::Tensor decode_boxes(torch::Tensor const& codes, torch::Tensor const& anchors);

/// Non-maximum suppression: indices of the boxes, best score first, that overlap no kept box of a
/// better score by more than `limit`. Waits for the device.
torch::Tensor suppress_overlaps(torch::Tensor const& boxes,
                                torch::Tensor const& scores,
                                double limit);

/// The same among the boxes of each class.
torch::Tensor suppress_overlaps(torch::Tensor const& boxes,
                                torch::Tensor const& scores,
                                torch::Tensor const& classes,
                                double limit);

}  // namespace torchwatch::suite
