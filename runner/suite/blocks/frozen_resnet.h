#pragma once

/// Residual networks as detectors fine-tune them: normalisation with frozen statistics, no
/// classifier. Trained statistics are what keeps such a network's numbers in bounds; as there are
/// none, they are taken from random pictures, and each block's last normalisation counts a fifth,
/// so that sums of residuals do not grow.

#include <cstdint>

#include "runner/suite/blocks/resnet.h"

namespace torchwatch::suite {

struct FrozenOptions {
  ResNetOptions resnet;
  std::int64_t stages = 1;  ///< so many learn nothing, nor does the stem; -1: all learn
  double pixel_range = 1;   ///< from black to white
};

ResNet make_frozen_resnet(FrozenOptions options);

/// The stage that would follow those of `body`, made with the same options, by itself.
torch::nn::Sequential make_frozen_stage(FrozenOptions options, ResNet body, std::int64_t depth);

}  // namespace torchwatch::suite
