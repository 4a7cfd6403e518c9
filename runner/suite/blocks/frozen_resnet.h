#pragma once

/// Residual networks that detectors fine-tune: normalisation with frozen statistics, no classifier.
/// Such networks need trained statistics to keep their numbers in bounds. There are none here, so
/// they are taken from random pictures, and each block's last normalisation is scaled to a fifth,
/// so that sums of residuals do not grow.

#include <cstdint>

#include "runner/suite/blocks/resnet.h"

namespace torchwatch::suite {

struct FrozenOptions {
  ResNetOptions resnet;
  std::int64_t stages = 1;  ///< frozen stages, with the stem; -1: none is frozen
  double pixel_range = 1;   ///< from black to white
};

ResNet make_frozen_resnet(FrozenOptions options);

/// The stage that would follow those of `body`, made with the same options, by itself.
torch::nn::Sequential make_frozen_stage(FrozenOptions options, ResNet body, std::int64_t depth);

}  // namespace torchwatch::suite
