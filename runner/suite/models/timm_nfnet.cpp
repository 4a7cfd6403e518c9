// NFNet-F0: Brock et al., "High-Performance Large-Scale Image Recognition Without Normalization",
// 2021 (arXiv 2102.06171), timm's dm_nfnet_f0: residual blocks without batch normalisation, whose
// convolutions standardise their weights instead. Input: images [batch, 3, 192, 192], labels
// [batch] of 1000 classes. Smoke: 64 x 64 pixels, an eighth of the width, no more than two blocks a
// stage. timm begins with every block's gain at 0; here it is 1, so that all parameters have
// gradients at once.

#include <cmath>
#include <utility>

#include "runner/suite/blocks/convnet.h"
#include "runner/suite/blocks/timm.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::timm_nfnet {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;
constexpr double alpha = 0.2;  // what a block adds to the variance, squared
constexpr double attention_gain = 2;

/// GELU scaled so that it keeps a normal input's variance.
Tensor scaled_gelu(Tensor const& x) {
  return torch::gelu(x).mul_(1.7015043497085571);
}

/// A convolution with the weights of each output brought to mean 0 and variance 1 / inputs, times a
/// learned gain.
class ScaledConvImpl : public ConvImpl {
 public:
  explicit ScaledConvImpl(ConvOptions const& shape)
      : ConvImpl(complete(shape)),
        gain_(register_parameter("gain", torch::ones({shape.out, 1, 1, 1}))),
        scale_(1 / std::sqrt(static_cast<double>(weight[0].numel()))) {}

  Tensor forward(Tensor const& x) {
    constexpr double epsilon = 1e-5;
    auto const flat = weight.reshape({1, weight.size(0), -1});
    auto const standard = torch::batch_norm(
        flat, (gain_ * scale_).view(-1), {}, {}, {}, /*training=*/true, 0, epsilon, true);
    return convolve(x, standard.reshape_as(weight));
  }

 private:
  static ConvOptions complete(ConvOptions shape) {
    shape.bias = true;
    shape.same = true;
    return shape;
  }

  Tensor gain_;
  double scale_;
};

TORCH_MODULE(ScaledConv);

struct Sizes {
  std::int64_t stem, group_width, last;
  std::vector<std::pair<std::int64_t, std::int64_t>> stages;  ///< width, blocks
};

class BlockImpl : public nn::Module {
 public:
  /// `variance`: of the input.
  BlockImpl(ConvOptions const& shape, std::int64_t group_width, double variance)
      : beta_(1 / std::sqrt(variance)),
        shortcut_(register_module("shortcut", nn::Sequential())),
        gain_(register_parameter("gain", torch::ones({}))) {
    auto const inner = shape.out / 2;
    auto const groups = inner / group_width;
    branch_ = register_module(
        "branch",
        nn::Sequential(ScaledConv(ConvOptions{shape.in, inner}),
                       nn::Functional(scaled_gelu),
                       ScaledConv(ConvOptions{inner, inner, 3, shape.stride, groups}),
                       nn::Functional(scaled_gelu),
                       ScaledConv(ConvOptions{inner, inner, 3, 1, groups}),
                       nn::Functional(scaled_gelu),
                       ScaledConv(ConvOptions{inner, shape.out}),
                       SqueezeExcite(shape.out, shape.out / 2, relu_in_place)));
    if (shape.stride > 1) {
      shortcut_->push_back(nn::AvgPool2d(
          nn::AvgPool2dOptions(2).stride(shape.stride).ceil_mode(true).count_include_pad(false)));
    }
    if (shape.stride > 1 || shape.in != shape.out)
      shortcut_->push_back(ScaledConv(ConvOptions{shape.in, shape.out}));
  }

  Tensor forward(Tensor const& input) {
    auto const x = scaled_gelu(input) * beta_;
    auto const direct = shortcut_->is_empty() ? input : shortcut_->forward(x);
    auto const added = (attention_gain * branch_->forward(x)).mul_(gain_);
    return added * alpha + direct;
  }

 private:
  double beta_;
  nn::Sequential branch_{nullptr}, shortcut_;
  Tensor gain_;
};

TORCH_MODULE(Block);

void add_stem(nn::Sequential& network, std::int64_t width) {
  std::int64_t in = 3;
  for (std::int64_t const part : {8, 4, 2, 1}) {
    bool const halves = part == 8 || part == 1;
    network->push_back(ScaledConv(ConvOptions{in, width / part, 3, halves ? 2 : 1}));
    if (part > 1) network->push_back(nn::Functional(scaled_gelu));
    in = width / part;
  }
}

nn::Sequential make_nfnet(Sizes const& sizes) {
  nn::Sequential network;
  add_stem(network, sizes.stem);
  auto in = sizes.stem;
  double variance = 1;
  for (auto const& [width, blocks] : sizes.stages) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      bool const halves = block == 0 && in != sizes.stem;
      network->push_back(
          Block(ConvOptions{in, width, 1, halves ? 2 : 1}, sizes.group_width, variance));
      if (block == 0) variance = 1;
      variance += alpha * alpha;
      in = width;
    }
  }
  network->push_back(ScaledConv(ConvOptions{in, sizes.last}));
  network->push_back(nn::Functional(scaled_gelu));
  network->push_back(nn::Functional(global_average));
  network->push_back(nn::Linear(sizes.last, classes));
  initialise_convolutions(*network);
  return network;
}

}  // namespace

std::unique_ptr<Workload> make_timm_nfnet(Setup const& setup) {
  auto const sizes = setup.pick<Sizes>({128, 128, 3072, {{256, 1}, {512, 2}, {1536, 6}, {1536, 3}}},
                                       {16, 16, 384, {{32, 1}, {64, 2}, {192, 2}, {192, 2}}});
  return make_classifier(setup, timm_classification(setup.pick(192, 64)), make_nfnet(sizes));
}

}  // namespace torchwatch::suite::timm_nfnet
