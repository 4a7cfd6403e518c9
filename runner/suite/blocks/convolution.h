#pragma once

/// Convolutional networks as torchvision builds them, computed in floating point or in others.

#include <cstdint>
#include <functional>

#include <torch/torch.h>

#include "runner/suite/blocks/convnet.h"
#include "runner/suite/layers.h"

namespace torchwatch::suite {

/// Makes the normalisation that follows a convolution of so many channels.
using NormFactory = std::function<torch::nn::AnyModule(std::int64_t channels)>;

torch::nn::AnyModule batch_norm(std::int64_t channels);

/// Convolution, normalisation and perhaps an activation. It is not a module, unlike ConvUnit,
/// because networks name the parts differently.
struct ConvNorm {
  Conv conv{nullptr};
  torch::nn::AnyModule norm;
  Activation* activation = relu_in_place;
};

/// Makes a convolution with batch normalisation.
ConvNorm make_conv_norm(ConvOptions const& options,
                        Activation* activation = relu_in_place,
                        NormOptions const& norm = {});

/// Appends each of its modules to `layers`, without the activation if there is none.
void append(Chain& layers, ConvNorm const& layer);

/// Makes one module with children 0, 1 and 2, as in torchvision.ops.Conv2dNormActivation.
Chain nest(ConvNorm const& layer);

/// Convolutions normal by the number of their outputs, linear layers normal with deviation 0.01,
/// their biases 0: how torchvision begins VGG and MobileNet.
void initialise_convolutional(torch::nn::Module& network);

/// The multiple of 8 next to `channels` that takes away no more than a tenth of them.
std::int64_t divisible(double channels);

/// The computation of a network's layers; this class uses floating point. A network that uses it
/// for all layers can be quantized, see blocks/quantization.h.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;

  virtual torch::Tensor convolve(ConvNorm& layer, torch::Tensor const& x);

  virtual torch::Tensor add(torch::Tensor const& x, torch::Tensor const& y);

  /// Activation in place.
  virtual torch::Tensor add_relu(torch::Tensor x, torch::Tensor const& y);

  /// Over 3 x 3 places with stride 2.
  virtual torch::Tensor max_pool(torch::Tensor const& x);

  /// [batch, channels, height, width] -> [batch, channels]
  virtual torch::Tensor average(torch::Tensor const& x);

  virtual torch::Tensor drop(torch::nn::Dropout& dropout, torch::Tensor const& x);

  virtual torch::Tensor connect(torch::nn::Linear& linear, torch::Tensor const& x);
};

}  // namespace torchwatch::suite
