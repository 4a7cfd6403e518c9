#include "runner/suite/blocks/convolution.h"

#include <algorithm>

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

nn::AnyModule batch_norm(std::int64_t channels) {
  return nn::AnyModule(nn::BatchNorm2d(channels));
}

Tensor rectify(Tensor x, Rectifier rectifier) {
  switch (rectifier) {
    case Rectifier::relu:
      return x.relu_();
    case Rectifier::relu6:
      return torch::relu6_(x);
    case Rectifier::hardswish:
      return torch::hardswish_(x);
    case Rectifier::none:
      break;
  }
  return x;
}

ConvNorm make_conv_norm(ConvNormOptions const& options) {
  auto conv = nn::Conv2dOptions(options.in, options.out, options.kernel)
                  .stride(options.stride)
                  .padding(options.kernel / 2)
                  .groups(options.groups)
                  .bias(false);
  return {nn::Conv2d(conv), options.norm(options.out), options.rectifier};
}

void append(Chain& layers, ConvNorm const& layer) {
  layers->push_back(layer.conv);
  layers->push_back(layer.norm);
  if (layer.rectifier == Rectifier::none) return;
  layers->push_back(nn::Functional(
      [rectifier = layer.rectifier](Tensor const& x) { return rectify(x, rectifier); }));
}

Chain nest(ConvNorm const& layer) {
  Chain layers;
  append(layers, layer);
  return layers;
}

void initialise_convolutional(nn::Module& network) {
  for (auto const& module : network.modules(false)) {
    if (auto const* conv = module->as<nn::Conv2d>()) {
      nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
      if (conv->bias.defined()) nn::init::zeros_(conv->bias);
    } else if (auto const* linear = module->as<nn::Linear>()) {
      nn::init::normal_(linear->weight, 0, 0.01);
      nn::init::zeros_(linear->bias);
    }
  }
}

std::int64_t divisible(double channels) {
  auto const rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

Tensor Arithmetic::convolve(ConvNorm& layer, Tensor const& x) {
  return rectify(layer.norm.forward(layer.conv(x)), layer.rectifier);
}

Tensor Arithmetic::add(Tensor const& x, Tensor const& y) {
  return x + y;
}

Tensor Arithmetic::add_relu(Tensor x, Tensor const& y) {
  x += y;
  return x.relu_();
}

Tensor Arithmetic::max_pool(Tensor const& x) {
  return torch::max_pool2d(x, {3, 3}, {2, 2}, {1, 1}, {1, 1});
}

Tensor Arithmetic::average(Tensor const& x) {
  return torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
}

Tensor Arithmetic::drop(nn::Dropout& dropout, Tensor const& x) {
  return dropout(x);
}

Tensor Arithmetic::connect(nn::Linear& linear, Tensor const& x) {
  return linear(x);
}

}  // namespace torchwatch::suite
