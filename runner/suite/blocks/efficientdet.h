#pragma once

/// Detection: Tan et al., "EfficientDet: Scalable and Efficient Object Detection", 2019 (arXiv
/// 1911.09070), as rwightman/efficientdet-pytorch builds the models that came from TensorFlow.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/efficientnet.h"

namespace torchwatch::suite {

struct EfficientDetOptions {
  EfficientNetOptions backbone;
  std::int64_t levels = 5;  ///< the first three from the backbone; each halves the side
  std::int64_t width = 88;  ///< width of the feature pyramid and the heads
  std::int64_t cells = 4;   ///< cells of the feature pyramid
  std::int64_t head_layers = 3;
  std::int64_t anchors = 9;  ///< at each place
  std::int64_t classes = 90;
};

/// The features of all levels, finest first: [batch, width, rows, columns] each.
using Levels = std::vector<torch::Tensor>;

/// The bidirectional feature pyramid: cells that carry features from coarse to fine levels and
/// back, and add them with learned weights.
class FeaturePyramidImpl : public torch::nn::Module {
 public:
  /// `channels`: of the input levels; coarser levels are computed.
  FeaturePyramidImpl(std::vector<std::int64_t> channels, EfficientDetOptions const& options);

  Levels forward(Levels levels);

 private:
  std::vector<torch::nn::AnyModule> coarser_;
  std::vector<torch::nn::AnyModule> cells_;
};

TORCH_MODULE(FeaturePyramid);

/// Separable convolutions that all levels share, with normalisations of each level's own.
class DetectionHeadImpl : public torch::nn::Module {
 public:
  DetectionHeadImpl(std::int64_t out, double bias, EfficientDetOptions const& options);

  /// [batch, out, height, width] at each level.
  Levels forward(Levels const& levels);

 private:
  std::vector<torch::nn::AnyModule> layers_;
  std::vector<std::vector<torch::nn::BatchNorm2d>> norms_;  ///< for each layer and level
  torch::nn::AnyModule predict_;
};

TORCH_MODULE(DetectionHead);

class EfficientDetImpl : public torch::nn::Module {
 public:
  explicit EfficientDetImpl(EfficientDetOptions const& options);

  struct Outputs {
    Levels scores;  ///< [batch, anchors * classes, height, width], logits
    Levels codes;   ///< [batch, anchors * 4, height, width]
  };

  Outputs forward(torch::Tensor const& images);

 private:
  EfficientNet backbone_;
  FeaturePyramid pyramid_;
  DetectionHead class_head_{nullptr}, box_head_{nullptr};
};

TORCH_MODULE(EfficientDet);

}  // namespace torchwatch::suite
