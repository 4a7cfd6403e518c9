#include "runner/suite/blocks/convolution.h"

#include <algorithm>

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

nn::AnyModule batch_norm(std::int64_t channels) {
  return nn::AnyModule(nn::BatchNorm2d(channels));
}

ConvNorm make_conv_norm(ConvOptions const& options,
                        Activation* activation,
                        NormOptions const& norm) {
  return {Conv(options), nn::AnyModule(make_batch_norm(options.out, norm)), activation};
}

void append(Chain& layers, ConvNorm const& layer) {
  layers->push_back(layer.conv);
  layers->push_back(layer.norm);
  if (layer.activation != nullptr) layers->push_back(nn::Functional(layer.activation));
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
  auto const y = layer.norm.forward(layer.conv(x));
  return layer.activation == nullptr ? y : layer.activation(y);
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
  return torch::linear(x, linear->weight, linear->bias);
}

}  // namespace torchwatch::suite
