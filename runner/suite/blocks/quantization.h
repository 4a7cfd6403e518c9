#pragma once

/// Quantization-aware training and integer inference: Jacob et al., "Quantization and Training of
/// Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2017 (arXiv 1712.05877), with
/// the operators that PyTorch's FX quantization chooses under the default settings for fbgemm:
/// activations in 7 bits for a whole tensor, weights in 8 bits for each channel, batch
/// normalisation folded into the convolution.

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/convolution.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite {

/// Tracks the range of its input and rounds it to values that integers can represent. Gradients
/// pass unrounded.
class FakeQuantizeImpl : public torch::nn::Module {
 public:
  /// For weights of so many output channels; 0: for activations.
  explicit FakeQuantizeImpl(std::int64_t channels);

  torch::Tensor forward(torch::Tensor const& x);

  /// The real value of an integer: (number - zero_point) * scale.
  struct Range {
    double scale;
    std::int64_t zero_point;
  };

  /// Returns the range of the activations so far.
  Range range() const;

  /// `weight` in integers whose zero is 0.
  torch::Tensor quantize(torch::Tensor const& weight) const;

 private:
  bool is_of_weights_;
  torch::Tensor quantizes_, observes_, scale_, zero_point_, min_, max_;
};

TORCH_MODULE(FakeQuantize);

/// Computes a network, images -> logits. Always the same layers in the same order.
using Computation = std::function<torch::Tensor(torch::Tensor const& images, Arithmetic&)>;

/// The quantized tensors of a network, in the order of its computation.
struct Quantizers {
  std::vector<FakeQuantize> activations;  ///< the images, then the output of each layer and sum
  std::vector<std::pair<ConvNorm, FakeQuantize>> convolutions;
  std::vector<std::pair<torch::nn::Linear, FakeQuantize>> linears;
};

/// A network with fake quantization. Its parameters are the network's, under the same names.
class FakeQuantizedImpl : public torch::nn::Module {
 public:
  FakeQuantizedImpl(torch::nn::Module const& network, Computation compute);

  torch::Tensor forward(torch::Tensor const& images);

  Computation const& computation() const { return compute_; }

  Quantizers const& quantizers() const { return quantizers_; }

 private:
  Computation compute_;
  Quantizers quantizers_;
};

TORCH_MODULE(FakeQuantized);

/// A network in integers, with the ranges that `trained` has seen. Only for CPUs. Its parameters
/// are those that the integers were made of.
class QuantizedImpl : public torch::nn::Module {
 public:
  explicit QuantizedImpl(FakeQuantized trained);

  torch::Tensor forward(torch::Tensor const& images);

 private:
  FakeQuantized trained_;
  std::vector<FakeQuantizeImpl::Range> activations_;
  std::vector<c10::IValue> convolutions_, linears_;  ///< packed
};

TORCH_MODULE(Quantized);

/// Training with fake quantization; inference in integers, once a few random images have shown the
/// ranges.
std::unique_ptr<Workload> make_quantized_classifier(Setup const& setup,
                                                    Classification options,
                                                    torch::nn::Module const& network,
                                                    Computation compute);

/// Makes it for a module holder that computes with any Arithmetic.
template <class Network>
std::unique_ptr<Workload> make_quantized_classifier(Setup const& setup,
                                                    Classification const& options,
                                                    Network network) {
  return make_quantized_classifier(
      setup,
      options,
      *network,
      [network](torch::Tensor const& images, Arithmetic& arithmetic) mutable {
        return network->compute(images, arithmetic);
      });
}

}  // namespace torchwatch::suite
