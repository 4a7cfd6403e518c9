// RegNetY-12GF: Radosavovic et al., "Designing Network Design Spaces", 2020 (arXiv 2003.13678),
// timm's regnety_120: residual blocks with grouped convolutions of 112 channels and squeeze and
// excitation. Input: images [batch, 3, 224, 224], labels [batch] of 1000 classes. Smoke: 64 x 64
// pixels, a seventh of the width and no more than two blocks a stage. timm begins with the last
// normalisation of each block at 0; here it is 1, so that all parameters have gradients at once.

#include "runner/suite/blocks/convnet.h"
#include "runner/suite/blocks/timm.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::timm_regnet {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t stem = 32;
constexpr std::int64_t classes = 1000;

struct Stage {
  std::int64_t width, blocks;
};

class BlockImpl : public nn::Module {
 public:
  BlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t group_width)
      : conv1_(register_module("conv1", ConvUnit(ConvOptions{in, out}, relu_in_place))),
        conv2_(register_module(
            "conv2", ConvUnit(ConvOptions{out, out, 3, stride, out / group_width}, relu_in_place))),
        squeeze_(register_module("squeeze_excite", SqueezeExcite(out, in / 4, relu_in_place))),
        conv3_(register_module("conv3", ConvUnit(ConvOptions{out, out}))) {
    if (in == out && stride == 1) return;
    shortcut_ = register_module("shortcut", ConvUnit(ConvOptions{in, out, 1, stride}));
  }

  Tensor forward(Tensor const& input) {
    auto const x = conv3_(squeeze_(conv2_(conv1_(input))));
    return (x + (shortcut_.is_empty() ? input : shortcut_(input))).relu();
  }

 private:
  ConvUnit conv1_, conv2_;
  SqueezeExcite squeeze_;
  ConvUnit conv3_, shortcut_{nullptr};
};

TORCH_MODULE(Block);

nn::Sequential make_regnet(std::vector<Stage> const& stages, std::int64_t group_width) {
  nn::Sequential network(ConvUnit(ConvOptions{3, stem, 3, 2}, relu_in_place));
  auto in = stem;
  for (auto const& stage : stages) {
    for (std::int64_t block = 0; block < stage.blocks; ++block) {
      network->push_back(Block(in, stage.width, block == 0 ? 2 : 1, group_width));
      in = stage.width;
    }
  }
  network->push_back(nn::Functional(global_average));
  network->push_back(nn::Linear(in, classes));
  initialise_convolutions(*network);
  return network;
}

}  // namespace

std::unique_ptr<Workload> make_timm_regnet(Setup const& setup) {
  auto const group_width = setup.pick(112, 16);
  auto const stages = setup.pick<std::vector<Stage>>({{224, 2}, {448, 5}, {896, 11}, {2240, 1}},
                                                     {{32, 2}, {64, 2}, {128, 2}, {320, 1}});
  return make_classifier(
      setup, timm_classification(setup.pick(224, 64)), make_regnet(stages, group_width));
}

}  // namespace torchwatch::suite::timm_regnet
