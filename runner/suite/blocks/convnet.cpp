#include "runner/suite/blocks/convnet.h"

#include <algorithm>
#include <cmath>

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

Tensor relu_in_place(Tensor const& x) {
  return x.relu_();
}

Tensor relu6_in_place(Tensor const& x) {
  auto y = x;
  return torch::relu6_(y);
}

Tensor silu_in_place(Tensor const& x) {
  auto y = x;
  return torch::silu_(y);
}

Tensor hardswish_in_place(Tensor const& x) {
  auto y = x;
  return torch::hardswish_(y);
}

Tensor pad_same(Tensor const& x, std::int64_t kernel, std::int64_t stride, double value) {
  auto const missing = [&](std::int64_t size) {
    auto const places = (size + stride - 1) / stride;
    return std::max<std::int64_t>((places - 1) * stride + kernel - size, 0);
  };
  auto const rows = missing(x.size(-2));
  auto const columns = missing(x.size(-1));
  if (rows == 0 && columns == 0) return x;
  return torch::pad(
      x, {columns / 2, columns - columns / 2, rows / 2, rows - rows / 2}, "constant", value);
}

namespace {

bool pads_unevenly(ConvOptions const& options) {
  return options.same && options.stride > 1;
}

nn::Conv2dOptions conv_options(ConvOptions const& options) {
  return nn::Conv2dOptions(options.in, options.out, options.kernel)
      .stride(options.stride)
      .padding(pads_unevenly(options) ? 0 : options.kernel / 2 * options.dilation)
      .dilation(options.dilation)
      .groups(options.groups)
      .bias(options.bias);
}

}  // namespace

ConvImpl::ConvImpl(ConvOptions const& shape)
    : nn::Conv2dImpl(conv_options(shape)),
      pads_(pads_unevenly(shape)) {}

Tensor ConvImpl::convolve(Tensor const& x, Tensor const& kernels) const {
  auto const kernel = options.kernel_size()->at(0);
  auto const stride = options.stride()->at(0);
  auto const padded = pads_ ? pad_same(x, kernel, stride) : x;
  auto const dilation = options.dilation()->at(0);
  auto const border = pads_ ? 0 : kernel / 2 * dilation;
  return torch::conv2d(padded, kernels, bias, stride, border, dilation, options.groups());
}

Tensor ConvImpl::forward(Tensor const& x) {
  return convolve(x, weight);
}

nn::BatchNorm2d make_batch_norm(std::int64_t channels, NormOptions const& options) {
  return nn::BatchNorm2d(
      nn::BatchNorm2dOptions(channels).eps(options.epsilon).momentum(options.momentum));
}

ConvUnitImpl::ConvUnitImpl(ConvOptions const& conv, Activation* activation, NormOptions const& norm)
    : conv_(register_module("conv", Conv(conv))),
      bn_(register_module("bn", make_batch_norm(conv.out, norm))),
      activation_(activation) {}

Tensor ConvUnitImpl::forward(Tensor const& x) {
  auto const y = bn_(conv_(x));
  return activation_ == nullptr ? y : activation_(y);
}

SqueezeExciteImpl::SqueezeExciteImpl(std::int64_t channels,
                                     std::int64_t hidden,
                                     Activation* activation)
    : reduce_(register_module("reduce", Conv(ConvOptions{channels, hidden, 1, 1, 1, true}))),
      expand_(register_module("expand", Conv(ConvOptions{hidden, channels, 1, 1, 1, true}))),
      activation_(activation) {}

Tensor SqueezeExciteImpl::forward(Tensor const& x) {
  auto const means = x.mean({2, 3}, /*keepdim=*/true);
  return x * expand_(activation_(reduce_(means))).sigmoid();
}

Tensor drop_path(Tensor const& x, double probability, bool training) {
  if (!training || probability == 0) return x;
  double const kept = 1 - probability;
  auto const mask = x.new_empty({x.size(0), 1, 1, 1}).bernoulli_(kept).div_(kept);
  return x * mask;
}

Tensor global_average(Tensor const& x) {
  return torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
}

void initialise_convolutions(nn::Module& network) {
  torch::NoGradGuard const no_gradients;
  for (auto const& module : network.modules(/*include_self=*/false)) {
    auto* conv = module->as<nn::Conv2dImpl>();
    if (conv == nullptr) continue;
    auto const fan = conv->weight[0][0].numel() * conv->weight.size(0) / conv->options.groups();
    conv->weight.normal_(0, std::sqrt(2.0 / static_cast<double>(fan)));
    if (conv->bias.defined()) conv->bias.zero_();
  }
}

}  // namespace torchwatch::suite
