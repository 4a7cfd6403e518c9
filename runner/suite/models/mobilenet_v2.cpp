// MobileNetV2: Sandler et al., 2018 (arXiv 1801.04381), after torchvision.models.mobilenetv2, whose
// names it has. Input: images [batch, 3, 224, 224], targets [batch, 1000]. Smoke: 32 x 32 pixels, a
// quarter of the width and no more than two blocks a stage. mobilenet_v2_quantized_qat: see
// blocks/quantization.h; as there, ReLU6 is an operator of its own. TorchBench infers with ranges
// of nothing seen and one picture of its batch; here a few pictures are seen and the whole batch is
// inferred.

#include <algorithm>
#include <vector>

#include "runner/suite/blocks/quantization.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite::mobilenet_v2 {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;

struct Sizes {
  double width;
  std::int64_t last, most_blocks;
};

struct Stage {
  std::int64_t expansion, channels, blocks, stride;
};

constexpr Stage stages[] = {{1, 16, 1, 1},
                            {6, 24, 2, 2},
                            {6, 32, 3, 2},
                            {6, 64, 4, 2},
                            {6, 96, 3, 1},
                            {6, 160, 3, 2},
                            {6, 320, 1, 1}};

/// Widens, convolves each channel for itself, narrows; added to its input where the shape stays.
class InvertedResidualImpl : public nn::Module {
 public:
  InvertedResidualImpl(std::int64_t in,
                       std::int64_t out,
                       std::int64_t stride,
                       std::int64_t expansion)
      : adds_(stride == 1 && in == out) {
    auto const inner = in * expansion;
    if (expansion != 1) layers_.push_back(make_conv_norm({in, inner}, relu6_in_place));
    layers_.push_back(make_conv_norm({inner, inner, 3, stride, inner}, relu6_in_place));
    auto modules = register_module("conv", nn::ModuleList());
    for (auto const& layer : layers_)
      modules->push_back(nest(layer));
    layers_.push_back(make_conv_norm({inner, out}, nullptr));
    modules->push_back(layers_.back().conv);
    modules->push_back(layers_.back().norm.ptr());
  }

  Tensor compute(Tensor const& input, Arithmetic& arithmetic) {
    auto x = input;
    for (auto& layer : layers_)
      x = arithmetic.convolve(layer, x);
    return adds_ ? arithmetic.add(input, x) : x;
  }

 private:
  bool adds_;
  std::vector<ConvNorm> layers_;
};

TORCH_MODULE(InvertedResidual);

class MobileNetV2Impl : public nn::Module {
 public:
  explicit MobileNetV2Impl(Sizes const& sizes)
      : stem_(make_conv_norm({3, divisible(32 * sizes.width), 3, 2}, relu6_in_place)) {
    auto features = register_module("features", nn::ModuleList());
    features->push_back(nest(stem_));
    auto in = divisible(32 * sizes.width);
    for (auto const& stage : stages) {
      auto const out = divisible(static_cast<double>(stage.channels) * sizes.width);
      for (std::int64_t i = 0; i < std::min(stage.blocks, sizes.most_blocks); ++i) {
        blocks_.emplace_back(in, out, i == 0 ? stage.stride : 1, stage.expansion);
        features->push_back(blocks_.back());
        in = out;
      }
    }
    top_ = make_conv_norm({in, sizes.last}, relu6_in_place);
    features->push_back(nest(top_));
    linear_ = nn::Linear(sizes.last, classes);
    register_module("classifier", nn::ModuleList(dropout_, linear_));
    initialise_convolutional(*this);
  }

  Tensor forward(Tensor const& images) {
    Arithmetic floating_point;
    return compute(images, floating_point);
  }

  Tensor compute(Tensor const& images, Arithmetic& arithmetic) {
    auto x = arithmetic.convolve(stem_, images);
    for (auto& block : blocks_)
      x = block->compute(x, arithmetic);
    x = arithmetic.average(arithmetic.convolve(top_, x));
    return arithmetic.connect(linear_, arithmetic.drop(dropout_, x));
  }

 private:
  ConvNorm stem_, top_;
  std::vector<InvertedResidual> blocks_;
  nn::Dropout dropout_{0.2};
  nn::Linear linear_{nullptr};
};

TORCH_MODULE(MobileNetV2);

Classification pictures(Setup const& setup) {
  return {setup.pick(224, 32), classes, Targets::soft};
}

MobileNetV2 network(Setup const& setup) {
  return MobileNetV2(setup.pick(Sizes{1, 1280, 4}, Sizes{0.25, 128, 2}));
}

}  // namespace

std::unique_ptr<Workload> make_mobilenet_v2(Setup const& setup) {
  return make_classifier(setup, pictures(setup), network(setup));
}

std::unique_ptr<Workload> make_mobilenet_v2_quantized_qat(Setup const& setup) {
  return make_quantized_classifier(setup, pictures(setup), network(setup));
}

}  // namespace torchwatch::suite::mobilenet_v2
