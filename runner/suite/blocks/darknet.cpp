#include "runner/suite/blocks/darknet.h"

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

DarknetUnitImpl::DarknetUnitImpl(std::int64_t in,
                                 std::int64_t out,
                                 std::int64_t kernel,
                                 std::int64_t stride)
    : conv_(register_module(
          "conv",
          nn::Conv2d(
              nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false)))),
      norm_(register_module(
          "norm", nn::BatchNorm2d(nn::BatchNorm2dOptions(out).momentum(0.03).eps(1e-4)))) {}

Tensor DarknetUnitImpl::forward(Tensor const& x) {
  auto normal = norm_(conv_(x));
  return torch::leaky_relu_(normal, 0.1);
}

void append_darknet_units(nn::Sequential& layers,
                          std::int64_t in,
                          std::int64_t narrow,
                          std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    bool const narrows = i % 2 == 0;
    auto const out = narrows ? narrow : 2 * narrow;
    layers->push_back(DarknetUnit(in, out, narrows ? 1 : 3));
    in = out;
  }
}

DarknetResidualImpl::DarknetResidualImpl(std::int64_t channels)
    : units_(register_module("units", nn::Sequential())) {
  append_darknet_units(units_, channels, channels / 2, 2);
}

Tensor DarknetResidualImpl::forward(Tensor const& x) {
  return x + units_->forward(x);
}

Tensor PyramidPoolingImpl::forward(Tensor const& x) {
  auto const largest = [&x](std::int64_t window) {
    return torch::max_pool2d(x, window, 1, window / 2);
  };
  return torch::cat({largest(13), largest(9), largest(5), x}, 1);
}

}  // namespace torchwatch::suite
