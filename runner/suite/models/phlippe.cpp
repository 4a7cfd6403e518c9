// The ResNet (He et al., 2015, arXiv 1512.03385) and the DenseNet (Huang et al., 2016, arXiv
// 1608.06993) of tutorial 5 of phlippe/uvadlc_notebooks, as TorchBench runs them, with the
// reference's names. Stochastic gradient descent trains the first, AdamW the second. Input: images
// [batch, 3, 32, 32], labels [batch] of 10 classes. Smoke: 16 x 16 pixels, half of the width, no
// more than two blocks a stage, two layers a dense block.

#include <array>
#include <vector>

#include "runner/suite/classification.h"
#include "runner/suite/layers.h"

namespace torchwatch::suite::phlippe {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 10;

nn::ReLU relu() {
  return nn::ReLU();
}

nn::Conv2d convolution(std::int64_t in,
                       std::int64_t out,
                       std::int64_t kernel,
                       std::int64_t stride = 1) {
  auto options = nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2);
  return nn::Conv2d(options.bias(false));
}

template <class Fan>
void initialise(nn::Module const& network, Fan fan) {
  for (auto const& module : network.modules(false))
    if (auto const* conv = module->as<nn::Conv2d>())
      nn::init::kaiming_normal_(conv->weight, 0, fan, torch::kReLU);
}

class ResNetBlockImpl : public nn::Module {
 public:
  ResNetBlockImpl(std::int64_t in, std::int64_t out)
      : net_(register_module("net",
                             nn::Sequential(convolution(in, out, 3, in == out ? 1 : 2),
                                            nn::BatchNorm2d(out),
                                            relu(),
                                            convolution(out, out, 3),
                                            nn::BatchNorm2d(out)))) {
    if (in == out) return;
    shortcut_ = register_module("downsample", nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(2)));
  }

  Tensor forward(Tensor const& x) {
    auto const sum = net_->forward(x) + (shortcut_.is_empty() ? x : shortcut_(x));
    return sum.relu();
  }

 private:
  nn::Sequential net_;
  nn::Conv2d shortcut_{nullptr};
};

TORCH_MODULE(ResNetBlock);

class ResNetImpl : public nn::Module {
 public:
  ResNetImpl(std::int64_t width, std::array<std::int64_t, 3> const& depths)
      : input_net_(register_module(
            "input_net", nn::Sequential(convolution(3, width, 3), nn::BatchNorm2d(width), relu()))),
        blocks_(register_module("blocks", nn::Sequential())) {
    auto in = width;
    for (std::size_t stage = 0; stage < depths.size(); ++stage) {
      auto const out = width << stage;
      for (std::int64_t block = 0; block < depths[stage]; ++block) {
        blocks_->push_back(ResNetBlock(in, out));
        in = out;
      }
    }
    output_net_ = register_module(
        "output_net",
        nn::Sequential(nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(in, classes)));
    initialise(*this, torch::kFanOut);
  }

  Tensor forward(Tensor const& images) {
    return output_net_->forward(blocks_->forward(input_net_->forward(images)));
  }

 private:
  nn::Sequential input_net_, blocks_, output_net_{nullptr};
};

TORCH_MODULE(ResNet);

class DenseLayerImpl : public nn::Module {
 public:
  DenseLayerImpl(std::int64_t in, std::int64_t growth)
      : net_(register_module("net",
                             nn::Sequential(nn::BatchNorm2d(in),
                                            relu(),
                                            convolution(in, 2 * growth, 1),
                                            nn::BatchNorm2d(2 * growth),
                                            relu(),
                                            convolution(2 * growth, growth, 3)))) {}

  Tensor forward(Tensor const& x) { return torch::cat({net_->forward(x), x}, 1); }

 private:
  nn::Sequential net_;
};

TORCH_MODULE(DenseLayer);

class DenseBlockImpl : public nn::Module {
 public:
  DenseBlockImpl(std::int64_t in, std::int64_t layers, std::int64_t growth)
      : block_(register_module("block", nn::Sequential())) {
    for (std::int64_t i = 0; i < layers; ++i)
      block_->push_back(DenseLayer(in + i * growth, growth));
  }

  Tensor forward(Tensor const& x) { return block_->forward(x); }

 private:
  nn::Sequential block_;
};

TORCH_MODULE(DenseBlock);

class TransitionImpl : public nn::Module {
 public:
  TransitionImpl(std::int64_t in, std::int64_t out)
      : transition_(
            register_module("transition",
                            nn::Sequential(nn::BatchNorm2d(in),
                                           relu(),
                                           convolution(in, out, 1),
                                           nn::AvgPool2d(nn::AvgPool2dOptions(2).stride(2))))) {}

  Tensor forward(Tensor const& x) { return transition_->forward(x); }

 private:
  nn::Sequential transition_;
};

TORCH_MODULE(Transition);

class DenseNetImpl : public nn::Module {
 public:
  DenseNetImpl(std::int64_t growth, std::int64_t layers)
      : input_net_(register_module(
            "input_net",
            nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 2 * growth, 3).padding(1))))),
        blocks_(register_module("blocks", nn::Sequential())) {
    constexpr int blocks = 4;
    auto channels = 2 * growth;
    for (int block = 0; block < blocks; ++block) {
      blocks_->push_back(DenseBlock(channels, layers, growth));
      channels += layers * growth;
      if (block + 1 == blocks) break;
      blocks_->push_back(Transition(channels, channels / 2));
      channels /= 2;
    }
    output_net_ = register_module("output_net",
                                  nn::Sequential(nn::BatchNorm2d(channels),
                                                 relu(),
                                                 nn::AdaptiveAvgPool2d(1),
                                                 nn::Flatten(),
                                                 nn::Linear(channels, classes)));
    initialise(*this, torch::kFanIn);
  }

  Tensor forward(Tensor const& images) {
    return output_net_->forward(blocks_->forward(input_net_->forward(images)));
  }

 private:
  nn::Sequential input_net_, blocks_, output_net_{nullptr};
};

TORCH_MODULE(DenseNet);

}  // namespace

std::unique_ptr<Workload> make_phlippe_resnet(Setup const& setup) {
  Classification options{setup.pick(32, 16), classes};
  options.optimizer = [](nn::Module const& network) {
    return make_sgd(network, 0.1, 0.9, 1e-4);
  };
  std::array<std::int64_t, 3> const full{3, 3, 3}, smoke{1, 2, 2};
  return make_classifier(setup, options, ResNet(setup.pick(16, 8), setup.pick(full, smoke)));
}

std::unique_ptr<Workload> make_phlippe_densenet(Setup const& setup) {
  Classification options{setup.pick(32, 16), classes};
  options.optimizer = [](nn::Module const& network) {
    auto const adamw = torch::optim::AdamWOptions(1e-3).weight_decay(1e-4);
    return std::make_unique<torch::optim::AdamW>(network.parameters(), adamw);
  };
  return make_classifier(setup, options, DenseNet(setup.pick(16, 8), setup.pick(6, 2)));
}

}  // namespace torchwatch::suite::phlippe
