#pragma once

/// Region proposal network: Ren et al., "Faster R-CNN", 2015 (arXiv 1506.01497). Names as in
/// torchvision.models.detection.rpn.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/anchors.h"
#include "runner/suite/blocks/objects.h"

namespace torchwatch::suite {

struct ProposalOptions {
  AnchorOptions anchors;
  std::int64_t before_suppression = 1000;  ///< the best of each level
  std::int64_t after_suppression = 1000;   ///< per picture
  double overlap = 0.7;                    ///< largest overlap of two proposals of a level
  double smallest_side = 0;                ///< in pixels
  std::int64_t sample = 256;               ///< anchors of a picture that learn
  double beta = 0;                         ///< below it the loss of a box is a square
};

struct Proposals {
  std::vector<torch::Tensor> boxes;   ///< for each picture, best first; no gradient
  std::vector<torch::Tensor> losses;  ///< objectness, boxes; when there is a truth
};

class ProposalNetworkImpl : public torch::nn::Module {
 public:
  ProposalNetworkImpl(std::int64_t channels, ProposalOptions const& options);

  /// `levels`: [pictures, channels, height, width] of pictures of `padded` pixels, of which only
  /// `size` are picture. `truths`: of each picture, or none.
  Proposals forward(std::vector<torch::Tensor> const& levels,
                    PictureSize const& padded,
                    PictureSize const& size,
                    std::vector<Truth> const& truths);

 private:
  struct Predictions {
    std::vector<torch::Tensor> logits;  ///< for each level, [pictures, anchors]
    std::vector<torch::Tensor> deltas;  ///< for each level, [pictures, anchors, 4]
  };

  Predictions predict(std::vector<torch::Tensor> const& levels);

  torch::Tensor select(Predictions const& predictions,
                       std::vector<torch::Tensor> const& boxes,
                       std::int64_t picture,
                       PictureSize const& size) const;

  std::vector<torch::Tensor> losses(Predictions const& predictions,
                                    torch::Tensor const& anchors,
                                    std::vector<Truth> const& truths) const;

  ProposalOptions options_;
  Anchors anchors_;
  torch::nn::Conv2d conv_, logits_, deltas_;
};

TORCH_MODULE(ProposalNetwork);

}  // namespace torchwatch::suite
