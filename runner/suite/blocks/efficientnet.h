#pragma once

/// Networks of inverted residual blocks: Sandler et al., "MobileNetV2", 2018 (arXiv 1801.04381);
/// with squeeze and excitation: Tan and Le, "EfficientNet", 2019 (arXiv 1905.11946); with mixed
/// kernels: Tan and Le, "MixConv", 2019 (arXiv 1907.09595).

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/convnet.h"

namespace torchwatch::suite {

/// One block after another: 1 x 1 convolution to `expansion` times the input's channels (none for
/// 1), convolution of each channel by itself, squeeze and excitation, 1 x 1 convolution to `out`
/// channels; added to the input where the shape stays.
struct InvertedOptions {
  std::int64_t repeats = 1;
  std::vector<std::int64_t> kernels{3};  ///< each takes an equal share of the channels
  std::int64_t stride = 1;               ///< stride of the first block
  std::int64_t expansion = 1;
  std::int64_t out = 0;
  double squeezed = 0;  ///< width of squeeze and excitation in a block's input; 0: none
  Activation* activation = silu_in_place;
  std::int64_t expand_shares = 1;   ///< the first convolution's, each by itself
  std::int64_t project_shares = 1;  ///< the last convolution's
};

struct EfficientNetOptions {
  std::int64_t stem = 32;
  std::vector<std::vector<InvertedOptions>> stages;
  std::int64_t head = 1280;
  std::int64_t classes = 1000;             ///< 0: neither `head` nor classes
  Activation* activation = silu_in_place;  ///< for stem and head
  bool same = false;                       ///< TensorFlow's borders
  NormOptions norm;
  double drop_path = 0;  ///< probability in the last block; it grows from 0
};

/// Images [batch, 3, height, width] -> logits [batch, classes].
class EfficientNetImpl : public torch::nn::Module {
 public:
  explicit EfficientNetImpl(EfficientNetOptions const& options);

  torch::Tensor forward(torch::Tensor const& images);

  /// The output of each stage, finest first.
  std::vector<torch::Tensor> features(torch::Tensor const& images);

 private:
  ConvUnit stem_;
  std::vector<torch::nn::Sequential> stages_;
  ConvUnit head_{nullptr};
  torch::nn::Linear classifier_{nullptr};
};

TORCH_MODULE(EfficientNet);

}  // namespace torchwatch::suite
