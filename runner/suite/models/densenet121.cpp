// DenseNet-BC: Huang et al., 2016 (arXiv 1608.06993), after torchvision.models.densenet, whose
// names it has. Input: images [batch, 3, 224, 224], targets [batch, 1000]. Smoke: 64 x 64 pixels, a
// quarter of the width and two layers a block.

#include <array>
#include <string>
#include <vector>

#include "runner/suite/classification.h"

namespace torchwatch::suite::densenet121 {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;
constexpr std::int64_t bottleneck = 4;  ///< times the growth

struct Sizes {
  std::int64_t growth;
  std::array<std::int64_t, 4> layers;
};

nn::Conv2d convolution(std::int64_t in,
                       std::int64_t out,
                       std::int64_t kernel,
                       std::int64_t stride = 1) {
  auto options = nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2);
  return nn::Conv2d(options.bias(false));
}

class DenseLayerImpl : public nn::Module {
 public:
  DenseLayerImpl(std::int64_t in, std::int64_t growth)
      : norm1_(register_module("norm1", nn::BatchNorm2d(in))),
        conv1_(register_module("conv1", convolution(in, bottleneck * growth, 1))),
        norm2_(register_module("norm2", nn::BatchNorm2d(bottleneck * growth))),
        conv2_(register_module("conv2", convolution(bottleneck * growth, growth, 3))) {}

  Tensor forward(std::vector<Tensor> const& features) {
    auto const narrow = conv1_(norm1_(torch::cat(features, 1)).relu_());
    return conv2_(norm2_(narrow).relu_());
  }

 private:
  nn::BatchNorm2d norm1_;
  nn::Conv2d conv1_;
  nn::BatchNorm2d norm2_;
  nn::Conv2d conv2_;
};

TORCH_MODULE(DenseLayer);

/// Each layer sees the input and what all layers before it made.
class DenseBlockImpl : public nn::Module {
 public:
  DenseBlockImpl(std::int64_t in, std::int64_t layers, std::int64_t growth) {
    for (std::int64_t i = 0; i < layers; ++i)
      layers_.emplace_back(register_module("denselayer" + std::to_string(i + 1),
                                           DenseLayer(in + i * growth, growth)));
  }

  Tensor forward(Tensor const& x) {
    std::vector<Tensor> features{x};
    for (auto& layer : layers_)
      features.push_back(layer->forward(features));
    return torch::cat(features, 1);
  }

 private:
  std::vector<DenseLayer> layers_;
};

TORCH_MODULE(DenseBlock);

class TransitionImpl : public nn::Module {
 public:
  TransitionImpl(std::int64_t in, std::int64_t out)
      : norm_(register_module("norm", nn::BatchNorm2d(in))),
        conv_(register_module("conv", convolution(in, out, 1))) {}

  Tensor forward(Tensor const& x) { return torch::avg_pool2d(conv_(norm_(x).relu_()), 2, 2); }

 private:
  nn::BatchNorm2d norm_;
  nn::Conv2d conv_;
};

TORCH_MODULE(Transition);

class DenseNetImpl : public nn::Module {
 public:
  explicit DenseNetImpl(Sizes const& sizes)
      : features_(register_module("features", nn::Sequential())) {
    auto channels = 2 * sizes.growth;
    features_->push_back("conv0", convolution(3, channels, 7, 2));
    features_->push_back("norm0", nn::BatchNorm2d(channels));
    features_->push_back("relu0", nn::ReLU(nn::ReLUOptions(true)));
    features_->push_back("pool0", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
    for (std::size_t i = 0; i < sizes.layers.size(); ++i) {
      auto const number = std::to_string(i + 1);
      features_->push_back("denseblock" + number,
                           DenseBlock(channels, sizes.layers[i], sizes.growth));
      channels += sizes.layers[i] * sizes.growth;
      if (i + 1 == sizes.layers.size()) break;
      features_->push_back("transition" + number, Transition(channels, channels / 2));
      channels /= 2;
    }
    features_->push_back("norm5", nn::BatchNorm2d(channels));
    classifier_ = register_module("classifier", nn::Linear(channels, classes));
    initialise();
  }

  Tensor forward(Tensor const& images) {
    auto const features = features_->forward(images).relu_();
    return classifier_(torch::adaptive_avg_pool2d(features, {1, 1}).flatten(1));
  }

 private:
  void initialise() {
    for (auto const& module : modules(false))
      if (auto const* conv = module->as<nn::Conv2d>())
        nn::init::kaiming_normal_(conv->weight, 0, torch::kFanIn, torch::kReLU);
    nn::init::zeros_(classifier_->bias);
  }

  nn::Sequential features_;
  nn::Linear classifier_{nullptr};
};

TORCH_MODULE(DenseNet);

}  // namespace

std::unique_ptr<Workload> make_densenet121(Setup const& setup) {
  DenseNet network(setup.pick(Sizes{32, {6, 12, 24, 16}}, Sizes{8, {2, 2, 2, 2}}));
  return make_classifier(setup, {setup.pick(224, 64), classes, Targets::soft}, network);
}

}  // namespace torchwatch::suite::densenet121
