#pragma once

/// Objects on a picture: the true ones, and those that a detector finds. Label 0 is the background,
/// so objects have labels from 1 on.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/boxes.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite {

struct Truth {
  torch::Tensor boxes;   ///< [n, 4]
  torch::Tensor labels;  ///< [n]
  torch::Tensor masks;   ///< [n, height, width] of truth values
};

struct Detections {
  torch::Tensor boxes;   ///< [n, 4]
  torch::Tensor labels;  ///< [n]
  torch::Tensor scores;  ///< [n]
  torch::Tensor masks;   ///< [n, side, side]: probabilities inside the box; or undefined

  /// Returns the objects at `indices`, or where these are true, without their masks.
  Detections at(torch::Tensor const& indices) const;
};

/// Pictures [batch, 3, height, width] of values from 0 to 1: coarse colours and fine noise, so that
/// no two places look alike to a network.
torch::Tensor draw_scenes(Setup const& setup, PictureSize const& size);

/// For each picture so many objects of labels below `classes`, a tenth to six tenths of the
/// picture wide and high, with elliptic masks.
std::vector<Truth> draw_truths(Setup const& setup,
                               PictureSize const& size,
                               std::int64_t objects,
                               std::int64_t classes);

/// Masks in their boxes on an empty picture, [n, height, width] of truth values: every pixel of the
/// picture is sampled from each mask, as detectron2 does it on a GPU.
torch::Tensor paste_by_sampling(torch::Tensor const& masks,
                                torch::Tensor const& boxes,
                                PictureSize const& size);

/// Pastes masks as probabilities [n, 1, height, width]: each mask is resized to its box of whole
/// pixels and copied, as torchvision does it.
torch::Tensor paste_by_resizing(torch::Tensor const& masks,
                                torch::Tensor const& boxes,
                                PictureSize const& size);

}  // namespace torchwatch::suite
