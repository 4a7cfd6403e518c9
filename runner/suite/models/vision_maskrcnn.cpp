// Mask R-CNN (He et al., 2017, arXiv 1703.06870) with a feature pyramid on ResNet-50, after
// torchvision.models.detection.maskrcnn_resnet50_fpn as TorchBench runs it: frozen normalisation,
// stem and first stage not trained; names are torchvision's. SGD with momentum.
// Input: pictures [4, 3, 480, 640] of values from 0 to 1, eight objects each; the model itself
// normalises them and resizes them to 800 x 1066 pixels. Eval ends with masks pasted onto pictures
// of the first size.
// Weights are random, statistics as in blocks/frozen_resnet.h. In eval the classifier's weights are
// drawn wide, meant to lift some classes of a region above the threshold of 0.05.
// Masks to learn from are sampled twice along each side of a bin, in the reference once a pixel.
// Smoke: 60 x 80 pixels resized to 96 x 128, a quarter of the width or less, one block a stage, 9
// classes, an eighth of all lengths, fewer proposals.

#include <utility>

#include "runner/suite/blocks/region_detector.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::vision_maskrcnn {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t objects = 8;
constexpr double beta = 1.0 / 9;

ProposalOptions proposal_options(Setup const& setup) {
  ProposalOptions options;
  for (double const size : {32, 64, 128, 256, 512})
    options.anchors.sizes.push_back({size / setup.pick(1, 8)});
  options.anchors.rounded = true;
  options.before_suppression = setup.pick(setup.test == Test::train ? 2000 : 1000, 64);
  options.after_suppression = setup.pick(setup.test == Test::train ? 2000 : 1000, 32);
  options.smallest_side = 1e-3;
  options.sample = setup.pick(256, 64);
  options.beta = beta;
  return options;
}

RegionHeadOptions head_options(Setup const& setup) {
  RegionHeadOptions options;
  options.classes = setup.pick(91, 9);
  options.draws_background = true;
  options.hidden = setup.pick(1024, 64);
  options.masks = true;
  options.mask_width = setup.pick(256, 32);
  options.binary_masks = false;
  options.strides = {4, 8, 16, 32};
  options.box_pool.canonical = setup.pick(224, 28);
  options.mask_pool = options.box_pool;
  options.mask_pool.size = 14;
  options.sample = setup.pick(512, 32);
  options.detections = setup.pick(100, 16);
  options.beta = beta;
  options.smallest_side = 1e-2;
  options.class_deviation = setup.test == Test::train ? 0.01 : 0.1;
  return options;
}

RegionDetector make_detector(Setup const& setup) {
  RegionDetectorOptions options;
  options.body.resnet.depths = setup.pick<std::vector<std::int64_t>>({3, 4, 6, 3}, {1, 1, 1, 1});
  options.body.resnet.width = setup.pick(64, 16);
  options.body.pixel_range = 1 / 0.226;
  options.pyramid = setup.pick(256, 32);
  options.proposals = proposal_options(setup);
  options.heads = head_options(setup);
  return RegionDetector(options);
}

/// Torchvision's steps before and after the detector.
class Transform {
 public:
  Transform(Setup const& setup, PictureSize const& from, PictureSize const& to)
      : from_(from),
        to_(to),
        mean_(setup.place(torch::tensor({0.485, 0.456, 0.406}, torch::kFloat).view({3, 1, 1}))),
        deviation_(
            setup.place(torch::tensor({0.229, 0.224, 0.225}, torch::kFloat).view({3, 1, 1}))) {}

  Tensor prepare(Tensor const& pictures) const {
    return torch::upsample_bilinear2d(
        (pictures - mean_) / deviation_, {to_.height, to_.width}, false);
  }

  std::vector<Truth> prepare(std::vector<Truth> const& truths) const {
    std::vector<Truth> resized;
    for (auto const& truth : truths) {
      auto const masks = truth.masks.unsqueeze(1).to(torch::kFloat);
      resized.push_back(
          {resize_boxes(truth.boxes, from_, to_),
           truth.labels,
           torch::upsample_nearest2d(masks, {to_.height, to_.width}).squeeze(1).to(torch::kByte)});
    }
    return resized;
  }

  /// Boxes, labels, scores and masks of each picture.
  std::vector<Tensor> finish(std::vector<Detections> const& pictures) const {
    std::vector<Tensor> all;
    for (auto const& each : pictures) {
      auto const boxes = resize_boxes(each.boxes, to_, from_);
      auto const masks = paste_by_resizing(each.masks, boxes, from_);
      all.insert(all.end(), {boxes, each.labels, each.scores, masks});
    }
    return all;
  }

 private:
  PictureSize from_, to_;
  Tensor mean_, deviation_;
};

}  // namespace

std::unique_ptr<Workload> make_vision_maskrcnn(Setup const& setup) {
  auto const from = setup.pick(PictureSize{480, 640}, PictureSize{60, 80});
  auto const to = setup.pick(PictureSize{800, 1066}, PictureSize{96, 128});
  auto detector = make_detector(setup);
  setup.place(*detector);
  auto const pictures = draw_scenes(setup, from);
  auto const truths = draw_truths(setup, from, objects, setup.pick(91, 9));
  Transform const transform(setup, from, to);

  Supervised parts;
  parts.network = detector.ptr();
  parts.inputs = {pictures};
  parts.forward = [=, test = setup.test]() mutable {
    auto const prepared = transform.prepare(pictures);
    if (test == Test::train) return detector->losses(prepared, transform.prepare(truths));
    return transform.finish(detector->detect(prepared));
  };
  parts.loss = [](auto const& losses) {
    return torch::stack(losses).sum();
  };
  parts.optimizer = make_sgd(*detector, setup.pick(0.02, 0.01), 0.9, 1e-4);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::vision_maskrcnn
