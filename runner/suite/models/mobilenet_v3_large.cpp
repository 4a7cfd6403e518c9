// MobileNetV3-Large: Howard et al., 2019 (arXiv 1905.02244), after torchvision.models.mobilenetv3,
// whose names it has. Input: images [batch, 3, 224, 224], targets [batch, 1000]. Smoke: 32 x 32
// pixels, a quarter of the width.

#include "runner/suite/blocks/convolution.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite::mobilenet_v3_large {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;

struct Row {
  std::int64_t kernel;
  double expanded, out;  ///< channels at full width
  bool squeezes;
  Activation* activation;
  std::int64_t stride;
};

constexpr double first = 16;
constexpr Row rows[] = {{3, 16, 16, false, relu_in_place, 1},
                        {3, 64, 24, false, relu_in_place, 2},
                        {3, 72, 24, false, relu_in_place, 1},
                        {5, 72, 40, true, relu_in_place, 2},
                        {5, 120, 40, true, relu_in_place, 1},
                        {5, 120, 40, true, relu_in_place, 1},
                        {3, 240, 80, false, hardswish_in_place, 2},
                        {3, 200, 80, false, hardswish_in_place, 1},
                        {3, 184, 80, false, hardswish_in_place, 1},
                        {3, 184, 80, false, hardswish_in_place, 1},
                        {3, 480, 112, true, hardswish_in_place, 1},
                        {3, 672, 112, true, hardswish_in_place, 1},
                        {5, 672, 160, true, hardswish_in_place, 2},
                        {5, 960, 160, true, hardswish_in_place, 1},
                        {5, 960, 160, true, hardswish_in_place, 1}};

Chain convolution(ConvOptions const& options, Activation* activation) {
  return nest(make_conv_norm(options, activation, {0.001, 0.01}));
}

/// Weighs each channel by what the whole picture holds.
class SqueezeExcitationImpl : public nn::Module {
 public:
  SqueezeExcitationImpl(std::int64_t channels, std::int64_t squeezed)
      : fc1_(register_module("fc1", nn::Conv2d(nn::Conv2dOptions(channels, squeezed, 1)))),
        fc2_(register_module("fc2", nn::Conv2d(nn::Conv2dOptions(squeezed, channels, 1)))) {}

  Tensor forward(Tensor const& x) {
    auto const squeezed = fc1_(torch::adaptive_avg_pool2d(x, {1, 1})).relu();
    return torch::hardsigmoid(fc2_(squeezed)) * x;
  }

 private:
  nn::Conv2d fc1_, fc2_;
};

TORCH_MODULE(SqueezeExcitation);

class InvertedResidualImpl : public nn::Module {
 public:
  InvertedResidualImpl(std::int64_t in, std::int64_t expanded, std::int64_t out, Row const& row)
      : adds_(row.stride == 1 && in == out),
        block_(register_module("block", Chain())) {
    if (expanded != in) block_->push_back(convolution({in, expanded}, row.activation));
    block_->push_back(
        convolution({expanded, expanded, row.kernel, row.stride, expanded}, row.activation));
    if (row.squeezes) {
      auto const quarter = expanded / 4;
      block_->push_back(SqueezeExcitation(expanded, divisible(static_cast<double>(quarter))));
    }
    block_->push_back(convolution({expanded, out}, nullptr));
  }

  Tensor forward(Tensor const& x) {
    auto result = block_->forward(x);
    if (adds_) result += x;
    return result;
  }

 private:
  bool adds_;
  Chain block_;
};

TORCH_MODULE(InvertedResidual);

class MobileNetV3Impl : public nn::Module {
 public:
  MobileNetV3Impl(double width, std::int64_t last) {
    auto in = divisible(first * width);
    features_->push_back(convolution({3, in, 3, 2}, hardswish_in_place));
    for (auto const& row : rows) {
      auto const out = divisible(row.out * width);
      features_->push_back(InvertedResidual(in, divisible(row.expanded * width), out, row));
      in = out;
    }
    features_->push_back(convolution({in, 6 * in}, hardswish_in_place));
    classifier_->push_back(nn::Linear(6 * in, last));
    classifier_->push_back(nn::Functional(hardswish_in_place));
    classifier_->push_back(nn::Dropout(nn::DropoutOptions(0.2).inplace(true)));
    classifier_->push_back(nn::Linear(last, classes));
    register_module("features", features_);
    register_module("classifier", classifier_);
    initialise_convolutional(*this);
  }

  Tensor forward(Tensor const& images) {
    auto const features = features_->forward(images);
    return classifier_->forward(torch::adaptive_avg_pool2d(features, {1, 1}).flatten(1));
  }

 private:
  Chain features_, classifier_;
};

TORCH_MODULE(MobileNetV3);

}  // namespace

std::unique_ptr<Workload> make_mobilenet_v3_large(Setup const& setup) {
  MobileNetV3 network(setup.pick(1.0, 0.25), setup.pick(1280, 320));
  return make_classifier(setup, {setup.pick(224, 32), classes, Targets::soft}, network);
}

}  // namespace torchwatch::suite::mobilenet_v3_large
