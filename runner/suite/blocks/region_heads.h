#pragma once

/// The heads for each proposed region: Ren et al., "Faster R-CNN", 2015 (arXiv 1506.01497), and He
/// et al., "Mask R-CNN", 2017 (arXiv 1703.06870). Names as in
/// torchvision.models.detection.roi_heads.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/blocks/objects.h"
#include "runner/suite/blocks/region_pooling.h"

namespace torchwatch::suite {

struct RegionHeadOptions {
  std::int64_t classes = 81;      ///< the background is one
  bool draws_background = false;  ///< boxes and masks are predicted for the background too
  std::int64_t hidden = 1024;     ///< width of the two linear layers for boxes
  bool masks = false;
  std::int64_t mask_convolutions = 4;
  std::int64_t mask_width = 256;
  bool binary_masks = true;  ///< masks to learn from are rounded after pooling
  std::vector<std::int64_t> strides;
  PoolOptions box_pool, mask_pool;
  /// A network for pooled regions that boxes and masks share, instead of layers of their own.
  torch::nn::Sequential shared{nullptr};
  std::int64_t shared_channels = 0;  ///< channels of its output
  std::int64_t sample = 512;         ///< regions of a picture that learn
  double beta = 0;                   ///< below it the loss of a box is a square
  double smallest_side = 0;          ///< smallest side of a detection, in pixels
  double lowest_score = 0.05;
  double overlap = 0.5;  ///< largest overlap of two detections of a class
  std::int64_t detections = 100;
  double class_deviation = 0.01;  ///< deviation of the classifier's random weights
};

class RegionHeadsImpl : public torch::nn::Module {
 public:
  RegionHeadsImpl(std::int64_t channels, RegionHeadOptions const& options);

  /// Loss of classes, of boxes and, if any, of masks. `levels`: [pictures, channels, height,
  /// width]; `proposals` and `truths`: of each picture.
  std::vector<torch::Tensor> losses(std::vector<torch::Tensor> const& levels,
                                    std::vector<torch::Tensor> const& proposals,
                                    std::vector<Truth> const& truths);

  /// Returns the detections of each picture of `size` pixels, best first.
  std::vector<Detections> detect(std::vector<torch::Tensor> const& levels,
                                 std::vector<torch::Tensor> const& proposals,
                                 PictureSize const& size);

 private:
  /// Regions of one picture that learn, objects first.
  struct Lesson {
    torch::Tensor boxes, labels, truth;
    std::int64_t objects = 0;
  };

  struct Predictions {
    torch::Tensor logits;  ///< [regions, classes]
    torch::Tensor deltas;  ///< [regions, classes to draw, 4]
  };

  void make_mask_branch(std::int64_t channels);
  Lesson draw_lesson(torch::Tensor const& proposals, Truth const& truth) const;
  torch::Tensor pool(std::vector<torch::Tensor> const& levels,
                     std::vector<torch::Tensor> const& boxes,
                     PoolOptions const& options);
  Predictions predict(torch::Tensor const& pooled);
  Detections choose(Predictions const& predictions,
                    torch::Tensor const& proposals,
                    PictureSize const& size) const;
  torch::Tensor predict_masks(torch::Tensor const& pooled, torch::Tensor const& labels);
  torch::Tensor box_loss(Predictions const& predictions,
                         std::vector<Lesson> const& lessons,
                         std::vector<Truth> const& truths) const;
  torch::Tensor mask_loss(std::vector<torch::Tensor> const& levels,
                          torch::Tensor const& pooled,
                          std::vector<Lesson> const& lessons,
                          std::vector<Truth> const& truths);
  torch::Tensor columns(torch::Tensor const& labels) const;

  RegionHeadOptions options_;
  torch::nn::Sequential shared_{nullptr}, box_head_{nullptr};
  torch::nn::Linear logits_{nullptr}, deltas_{nullptr};
  torch::nn::Sequential mask_head_{nullptr}, mask_predictor_{nullptr};
};

TORCH_MODULE(RegionHeads);

}  // namespace torchwatch::suite
