#pragma once

/// Parts that convolutional networks of many papers share, as timm builds them.

#include <cstdint>

#include <torch/torch.h>

#include "runner/suite/layers.h"

namespace torchwatch::suite {

/// Activations in place, for new tensors without other users.
torch::Tensor relu_in_place(torch::Tensor const& x);
torch::Tensor relu6_in_place(torch::Tensor const& x);
torch::Tensor silu_in_place(torch::Tensor const& x);
torch::Tensor hardswish_in_place(torch::Tensor const& x);

/// `x` with a border of `value`, so that a window of `kernel` pixels that moves by `stride` finds
/// size / stride places, rounded up. TensorFlow calls it SAME: an odd pixel goes to the end.
torch::Tensor pad_same(torch::Tensor const& x,
                       std::int64_t kernel,
                       std::int64_t stride,
                       double value = 0);

struct ConvOptions {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  bool bias = false;
  bool same = false;          ///< a border as in `pad_same`; else half of the kernel on every side
  std::int64_t dilation = 1;  ///< 1 with `same`
};

/// A convolution of odd kernel that keeps the picture's size but for its stride.
class ConvImpl : public torch::nn::Conv2dImpl {
 public:
  explicit ConvImpl(ConvOptions const& shape);

  torch::Tensor forward(torch::Tensor const& x);

 protected:
  /// Applies it with other weights than its own.
  torch::Tensor convolve(torch::Tensor const& x, torch::Tensor const& kernels) const;

 private:
  bool pads_;
};

TORCH_MODULE(Conv);

struct NormOptions {
  double epsilon = 1e-5;
  double momentum = 0.1;
};

torch::nn::BatchNorm2d make_batch_norm(std::int64_t channels, NormOptions const& options = {});

/// Convolution, batch normalisation and perhaps an activation.
class ConvUnitImpl : public torch::nn::Module {
 public:
  explicit ConvUnitImpl(ConvOptions const& conv,
                        Activation* activation = nullptr,
                        NormOptions const& norm = {});

  torch::Tensor forward(torch::Tensor const& x);

 private:
  Conv conv_;
  torch::nn::BatchNorm2d bn_;
  Activation* activation_;
};

TORCH_MODULE(ConvUnit);

/// Hu et al., "Squeeze-and-Excitation Networks", 2017 (arXiv 1709.01507): every channel times a
/// number between 0 and 1 that two layers make of all channels' means.
class SqueezeExciteImpl : public torch::nn::Module {
 public:
  SqueezeExciteImpl(std::int64_t channels, std::int64_t hidden, Activation* activation);

  torch::Tensor forward(torch::Tensor const& x);

 private:
  Conv reduce_, expand_;
  Activation* activation_;
};

TORCH_MODULE(SqueezeExcite);

/// Huang et al., "Deep Networks with Stochastic Depth", 2016 (arXiv 1603.09382): in training, each
/// sample is 0 with that probability and else so scaled that the mean stays.
torch::Tensor drop_path(torch::Tensor const& x, double probability, bool training);

/// [batch, channels, height, width] -> [batch, channels]: the means.
torch::Tensor global_average(torch::Tensor const& x);

/// Initializes convolutions: normal weights with a variance of 2 / (number of outputs per input),
/// biases 0.
void initialise_convolutions(torch::nn::Module& network);

}  // namespace torchwatch::suite
