#pragma once

/// Residual networks: He et al., "Deep Residual Learning for Image Recognition", 2015 (arXiv
/// 1512.03385), and their aggregated form: Xie et al., 2016 (arXiv 1611.05431). Parameters and
/// buffers are named as torchvision.models.resnet names them.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/convolution.h"

namespace torchwatch::suite {

/// Batch normalisation whose statistics and affine transform are constants: four buffers, no
/// parameter. As in torchvision.ops.FrozenBatchNorm2d.
class FrozenBatchNormImpl : public torch::nn::Module {
 public:
  explicit FrozenBatchNormImpl(std::int64_t channels);

  torch::Tensor forward(torch::Tensor const& x);

  /// With `observes`, `forward` first sets the statistics to those of its input.
  void observe(bool observes) { observes_ = observes; }

 private:
  torch::Tensor weight_, bias_, mean_, variance_;
  bool observes_ = false;
};

TORCH_MODULE(FrozenBatchNorm);

torch::nn::AnyModule frozen_batch_norm(std::int64_t channels);

struct ResNetOptions {
  std::vector<std::int64_t> depths{3, 4, 6, 3};  ///< blocks in each of the four stages
  bool bottleneck = true;                        ///< blocks of three convolutions, else of two
  std::int64_t width = 64;                       ///< channels of the first stage
  std::int64_t groups = 1;                       ///< groups of a bottleneck's 3 x 3 convolution
  std::int64_t width_per_group = 64;             ///< 64: a bottleneck is a stage's width wide
  bool stride_first = false;    ///< bottlenecks halve the picture in their 1 x 1 convolution
  bool dilate_last = false;     ///< the last stage dilates instead of halving the picture
  std::int64_t classes = 1000;  ///< 0: no pooling and no `fc`
  NormFactory norm = batch_norm;
};

/// Images [batch, 3, height, width] -> logits [batch, classes].
class ResNetImpl : public torch::nn::Module {
 public:
  explicit ResNetImpl(ResNetOptions const& options);

  torch::Tensor forward(torch::Tensor const& images);

  torch::Tensor compute(torch::Tensor const& images, Arithmetic& arithmetic);

  /// The output of each stage, finest first: a quarter of the picture's side and, from the second
  /// on, half of the stage before.
  std::vector<torch::Tensor> features(torch::Tensor const& images);

  /// Stem and the first `stages` stages learn nothing.
  void freeze(std::size_t stages);

  /// Channels of each stage's output.
  static std::vector<std::int64_t> channels(ResNetOptions const& options);

 private:
  std::vector<torch::Tensor> features(torch::Tensor const& images, Arithmetic& arithmetic);

  ConvNorm stem_;
  std::vector<torch::nn::Sequential> stages_;
  torch::nn::Linear fc_{nullptr};
};

TORCH_MODULE(ResNet);

/// The stage that would follow those of `options`, by itself, `depth` blocks deep.
torch::nn::Sequential make_next_stage(ResNetOptions const& options, std::int64_t depth);

}  // namespace torchwatch::suite
