// MixNet-M: Tan and Le, "MixConv: Mixed Depthwise Convolutional Kernels", 2019 (arXiv 1907.09595),
// timm's mixnet_m, which TorchBench runs as timm_efficientnet. Depthwise kernels of 3 to 9 pixels
// side by side, 1 x 1 convolutions in two halves, squeeze and excitation. Input: images
// [batch, 3, 224, 224], labels [batch] of 1000 classes. Smoke: 32 x 32 pixels, half the width (a
// quarter at the end) and no more than one block of a kind in a row.

#include "runner/suite/blocks/efficientnet.h"
#include "runner/suite/blocks/timm.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::timm_efficientnet {
namespace {

std::vector<std::vector<InvertedOptions>> mixnet_m() {
  auto* const relu = relu_in_place;
  auto* const silu = silu_in_place;
  return {
      {{1, {3}, 1, 1, 24, 0, relu}},
      {{1, {3, 5, 7}, 2, 6, 32, 0, relu, 2, 2}, {1, {3}, 1, 3, 32, 0, relu, 2, 2}},
      {{1, {3, 5, 7, 9}, 2, 6, 40, 0.5, silu}, {3, {3, 5}, 1, 6, 40, 0.5, silu, 2, 2}},
      {{1, {3, 5, 7}, 2, 6, 80, 0.25, silu}, {3, {3, 5, 7, 9}, 1, 6, 80, 0.25, silu, 2, 2}},
      {{1, {3}, 1, 6, 120, 0.5, silu}, {3, {3, 5, 7, 9}, 1, 3, 120, 0.5, silu, 2, 2}},
      {{1, {3, 5, 7, 9}, 2, 6, 200, 0.5, silu}, {3, {3, 5, 7, 9}, 1, 6, 200, 0.5, silu, 1, 2}},
  };
}

}  // namespace

std::unique_ptr<Workload> make_timm_efficientnet(Setup const& setup) {
  EfficientNetOptions options;
  options.stem = setup.pick(24, 12);
  options.stages = mixnet_m();
  options.head = setup.pick(1536, 384);
  options.activation = relu_in_place;
  if (setup.scale == Scale::smoke) {
    for (auto& stage : options.stages) {
      for (auto& group : stage) {
        group.repeats = 1;
        group.out /= 2;
      }
    }
  }
  return make_classifier(setup, timm_classification(setup.pick(224, 32)), EfficientNet(options));
}

}  // namespace torchwatch::suite::timm_efficientnet
