// ShuffleNetV2: Ma et al., 2018 (arXiv 1807.11164), after torchvision.models.shufflenetv2, whose
// names it has. Input: images [batch, 3, 224, 224], targets [batch, 1000]. Smoke: 64 x 64 pixels,
// about a quarter of the width and two blocks a stage.

#include <array>
#include <string>
#include <vector>

#include "runner/suite/blocks/convolution.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite::shufflenet_v2_x1_0 {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;

struct Sizes {
  std::array<std::int64_t, 3> blocks;
  std::int64_t stem;
  std::array<std::int64_t, 3> channels;
  std::int64_t last;
};

void append_depthwise(Chain& layers, std::int64_t channels, std::int64_t stride) {
  append(layers, make_conv_norm({channels, channels, 3, stride, channels}, nullptr));
}

void append_pointwise(Chain& layers, std::int64_t in, std::int64_t out) {
  append(layers, make_conv_norm({in, out, 1}));
}

/// Takes one channel of each half by turns.
Tensor shuffle(Tensor const& x) {
  auto const halves = x.view({x.size(0), 2, x.size(1) / 2, x.size(2), x.size(3)});
  return halves.transpose(1, 2).contiguous().view(x.sizes());
}

/// Two branches side by side. The first is half of the input as it is, where the shape stays.
class InvertedResidualImpl : public nn::Module {
 public:
  InvertedResidualImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : halves_(stride == 1),
        branch1_(register_module("branch1", Chain())),
        branch2_(register_module("branch2", Chain())) {
    auto const half = out / 2;
    if (!halves_) {
      append_depthwise(branch1_, in, stride);
      append_pointwise(branch1_, in, half);
    }
    append_pointwise(branch2_, halves_ ? half : in, half);
    append_depthwise(branch2_, half, stride);
    append_pointwise(branch2_, half, half);
  }

  Tensor forward(Tensor const& x) {
    if (!halves_) return shuffle(torch::cat({branch1_->forward(x), branch2_->forward(x)}, 1));
    auto const parts = x.chunk(2, 1);
    return shuffle(torch::cat({parts[0], branch2_->forward(parts[1])}, 1));
  }

 private:
  bool halves_;
  Chain branch1_, branch2_;
};

TORCH_MODULE(InvertedResidual);

class ShuffleNetV2Impl : public nn::Module {
 public:
  explicit ShuffleNetV2Impl(Sizes const& sizes)
      : conv1_(register_module("conv1", nest(make_conv_norm({3, sizes.stem, 3, 2})))) {
    auto in = sizes.stem;
    for (std::size_t stage = 0; stage < sizes.channels.size(); ++stage) {
      Chain blocks;
      for (std::int64_t i = 0; i < sizes.blocks[stage]; ++i) {
        blocks->push_back(InvertedResidual(in, sizes.channels[stage], i == 0 ? 2 : 1));
        in = sizes.channels[stage];
      }
      stages_.emplace_back(register_module("stage" + std::to_string(stage + 2), blocks));
    }
    conv5_ = register_module("conv5", nest(make_conv_norm({in, sizes.last, 1})));
    fc_ = register_module("fc", nn::Linear(sizes.last, classes));
  }

  Tensor forward(Tensor const& images) {
    auto x = torch::max_pool2d(conv1_->forward(images), 3, 2, 1);
    for (auto& stage : stages_)
      x = stage->forward(x);
    return fc_(conv5_->forward(x).mean({2, 3}));
  }

 private:
  Chain conv1_;
  std::vector<Chain> stages_;
  Chain conv5_{nullptr};
  nn::Linear fc_{nullptr};
};

TORCH_MODULE(ShuffleNetV2);

}  // namespace

std::unique_ptr<Workload> make_shufflenet_v2_x1_0(Setup const& setup) {
  Sizes const full{{4, 8, 4}, 24, {116, 232, 464}, 1024};
  Sizes const smoke{{2, 2, 2}, 8, {28, 56, 112}, 256};
  ShuffleNetV2 network(setup.pick(full, smoke));
  return make_classifier(setup, {setup.pick(224, 64), classes, Targets::soft}, network);
}

}  // namespace torchwatch::suite::shufflenet_v2_x1_0
