#pragma once

/// A detector by regions: residual network, perhaps a feature pyramid, proposals, heads. Names as
/// in torchvision.models.detection.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/frozen_resnet.h"
#include "runner/suite/blocks/proposals.h"
#include "runner/suite/blocks/pyramid.h"
#include "runner/suite/blocks/region_heads.h"

namespace torchwatch::suite {

struct RegionDetectorOptions {
  FrozenOptions body;
  std::int64_t pyramid = 256;   ///< width; 0: the last stage's output and nothing else
  std::int64_t multiple = 32;   ///< pictures are padded to sides of this many pixels
  std::int64_t head_depth = 0;  ///< blocks of one more stage that looks at the regions; 0: none
  ProposalOptions proposals;
  RegionHeadOptions heads;
};

class RegionDetectorImpl : public torch::nn::Module {
 public:
  explicit RegionDetectorImpl(RegionDetectorOptions const& options);

  /// All losses, to be summed. `pictures`: [batch, 3, height, width], normalised.
  std::vector<torch::Tensor> losses(torch::Tensor const& pictures,
                                    std::vector<Truth> const& truths);

  std::vector<Detections> detect(torch::Tensor const& pictures);

 private:
  struct View {
    std::vector<torch::Tensor> levels;
    PictureSize size, padded;
  };

  View look(torch::Tensor const& pictures);

  std::int64_t multiple_;
  ResNet body_;
  Pyramid fpn_{nullptr};
  ProposalNetwork rpn_{nullptr};
  RegionHeads roi_heads_{nullptr};
};

TORCH_MODULE(RegionDetector);

/// Pads with zeros to the right and below, so that each side is a multiple.
torch::Tensor pad_pictures(torch::Tensor const& pictures, std::int64_t multiple);

PictureSize size_of(torch::Tensor const& pictures);

}  // namespace torchwatch::suite
