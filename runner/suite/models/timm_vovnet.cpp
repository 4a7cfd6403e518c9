// VoVNet-39: Lee et al., "An Energy and GPU-Computation Efficient Backbone Network for Real-Time
// Object Detection", 2019 (arXiv 1904.09730), timm's vovnet39a. Blocks of five 3 x 3 convolutions
// in a row whose outputs are all joined at once. Input: images [batch, 3, 224, 224], labels
// [batch] of 1000 classes. Smoke: 64 x 64 pixels, an eighth of the width and one block a stage.

#include <string>

#include "runner/suite/blocks/convnet.h"
#include "runner/suite/blocks/timm.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::timm_vovnet {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;
constexpr std::int64_t layers = 5;

/// Channels inside and after each block of a stage, and the number of blocks.
struct Stage {
  std::int64_t inner, out, blocks;
};

/// One-shot aggregation.
class BlockImpl : public nn::Module {
 public:
  BlockImpl(std::int64_t in, Stage const& stage)
      : join_(register_module(
            "join", ConvUnit(ConvOptions{in + layers * stage.inner, stage.out}, relu_in_place))) {
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      ConvOptions const conv{layer == 0 ? in : stage.inner, stage.inner, 3};
      convs_.emplace_back(
          register_module("conv" + std::to_string(layer), ConvUnit(conv, relu_in_place)));
    }
  }

  Tensor forward(Tensor const& x) {
    std::vector<Tensor> outputs{x};
    for (auto& conv : convs_)
      outputs.push_back(conv(outputs.back()));
    return join_(torch::cat(outputs, 1));
  }

 private:
  std::vector<ConvUnit> convs_;
  ConvUnit join_;
};

TORCH_MODULE(Block);

nn::Sequential make_vovnet(std::int64_t width, std::vector<Stage> const& stages) {
  nn::Sequential network(ConvUnit(ConvOptions{3, width, 3, 2}, relu_in_place),
                         ConvUnit(ConvOptions{width, width, 3}, relu_in_place),
                         ConvUnit(ConvOptions{width, 2 * width, 3, 2}, relu_in_place));
  auto in = 2 * width;
  for (auto const& stage : stages) {
    bool const first = in == 2 * width;
    if (!first)
      network->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).ceil_mode(true)));
    for (std::int64_t block = 0; block < stage.blocks; ++block) {
      network->push_back(Block(in, stage));
      in = stage.out;
    }
  }
  network->push_back(nn::Functional(global_average));
  network->push_back(nn::Linear(in, classes));
  initialise_convolutions(*network);
  return network;
}

}  // namespace

std::unique_ptr<Workload> make_timm_vovnet(Setup const& setup) {
  auto const width = setup.pick(64, 8);
  auto const part = width / 2;
  auto const more = setup.pick(2, 1);
  auto network = make_vovnet(width,
                             {{4 * part, 8 * part, 1},
                              {5 * part, 16 * part, 1},
                              {6 * part, 24 * part, more},
                              {7 * part, 32 * part, more}});
  return make_classifier(setup, timm_classification(setup.pick(224, 64)), network);
}

}  // namespace torchwatch::suite::timm_vovnet
