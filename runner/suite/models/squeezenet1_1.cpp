// SqueezeNet 1.1: Iandola et al., 2016 (arXiv 1602.07360), after torchvision.models.squeezenet,
// whose names it has. Input: images [batch, 3, 224, 224] of 1000 classes; upstream does not train
// it. Smoke: 64 x 64 pixels, a quarter of the channels.

#include <utility>

#include "runner/suite/blocks/feature_classifier.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite::squeezenet1_1 {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;

nn::MaxPool2d pool() {
  return nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).ceil_mode(true));
}

/// Narrows, then widens by convolutions of 1 x 1 and of 3 x 3 side by side.
class FireImpl : public nn::Module {
 public:
  FireImpl(std::int64_t in, std::int64_t squeezed, std::int64_t expanded)
      : squeeze_(register_module("squeeze", make_plain_convolution(in, squeezed, 1))),
        expand1x1_(register_module("expand1x1", make_plain_convolution(squeezed, expanded, 1))),
        expand3x3_(register_module("expand3x3", make_plain_convolution(squeezed, expanded, 3))) {}

  Tensor forward(Tensor const& x) {
    auto const squeezed = squeeze_(x).relu_();
    return torch::cat({expand1x1_(squeezed).relu_(), expand3x3_(squeezed).relu_()}, 1);
  }

 private:
  nn::Conv2d squeeze_, expand1x1_, expand3x3_;
};

TORCH_MODULE(Fire);

class SqueezeNetImpl : public nn::Module {
 public:
  /// `width`: channels of the first Fire's 1 x 1 and of its 3 x 3 convolution.
  explicit SqueezeNetImpl(std::int64_t width)
      : features_(register_module("features", nn::Sequential())) {
    features_->push_back(nn::Conv2d(nn::Conv2dOptions(3, width, 3).stride(2)));
    features_->push_back(make_relu());
    auto in = width;
    for (std::int64_t const widening : {1, 2}) {
      features_->push_back(pool());
      for (int twice = 0; twice < 2; ++twice)
        in = push_fire(in, width * widening);
    }
    features_->push_back(pool());
    for (std::int64_t const widening : {3, 3, 4, 4})
      in = push_fire(in, width * widening);
    auto const last = make_plain_convolution(in, classes, 1);
    classifier_ =
        register_module("classifier", nn::Sequential(nn::Dropout(0.5), last, make_relu()));
    initialise();
    nn::init::normal_(last->weight, 0, 0.01);
  }

  Tensor forward(Tensor const& images) {
    auto const places = classifier_->forward(features_->forward(images));
    return torch::adaptive_avg_pool2d(places, {1, 1}).flatten(1);
  }

 private:
  std::int64_t push_fire(std::int64_t in, std::int64_t expanded) {
    features_->push_back(Fire(in, expanded / 4, expanded));
    return 2 * expanded;
  }

  void initialise() {
    for (auto const& module : modules(false)) {
      auto const* conv = module->as<nn::Conv2d>();
      if (conv == nullptr) continue;
      nn::init::kaiming_uniform_(conv->weight, 0, torch::kFanIn, torch::kReLU);
      nn::init::zeros_(conv->bias);
    }
  }

  nn::Sequential features_, classifier_{nullptr};
};

TORCH_MODULE(SqueezeNet);

}  // namespace

std::unique_ptr<Workload> make_squeezenet1_1(Setup const& setup) {
  SqueezeNet network(setup.pick(64, 16));
  return make_classifier(setup, {setup.pick(224, 64), classes, Targets::soft}, network);
}

}  // namespace torchwatch::suite::squeezenet1_1
