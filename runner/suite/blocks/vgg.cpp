#include "runner/suite/blocks/vgg.h"

#include <algorithm>
#include <array>
#include <vector>

namespace torchwatch::suite {
namespace {

namespace nn = torch::nn;

struct Stage {
  std::int64_t convolutions, widening;
};

constexpr std::array<Stage, 5> stages{{{2, 1}, {2, 2}, {3, 4}, {3, 8}, {3, 8}}};

nn::Conv2d make_convolution(std::int64_t in, std::int64_t out) {
  nn::Conv2d conv(nn::Conv2dOptions(in, out, 3).padding(1));
  nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
  nn::init::zeros_(conv->bias);
  return conv;
}

std::vector<nn::AnyModule> make_layers(VggOptions const& options) {
  std::vector<nn::AnyModule> layers;
  std::int64_t in = 3;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    auto const out = options.width * stages[stage].widening;
    for (std::int64_t i = 0; i < stages[stage].convolutions; ++i) {
      layers.emplace_back(make_convolution(in, out));
      if (options.batch_norm) layers.emplace_back(nn::BatchNorm2d(out));
      layers.emplace_back(nn::ReLU(nn::ReLUOptions(true)));
      in = out;
    }
    bool const narrow = stage + options.narrow_pools >= stages.size();
    layers.emplace_back(nn::MaxPool2d(nn::MaxPool2dOptions({2, narrow ? 1 : 2})));
  }
  return layers;
}

}  // namespace

nn::Sequential make_vgg16_features(VggOptions const& options) {
  auto const layers = make_layers(options);
  nn::Sequential features;
  for (std::size_t i = 0; i < std::min(options.layers, layers.size()); ++i)
    features->push_back(layers[i]);
  return features;
}

}  // namespace torchwatch::suite
