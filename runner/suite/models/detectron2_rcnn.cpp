// Faster R-CNN (Ren et al., 2015, arXiv 1506.01497) and Mask R-CNN (He et al., 2017, arXiv
// 1703.06870) after detectron2's COCO configurations, as TorchBench runs them. Features: c4, the
// fourth stage, with the fifth as the head; dc5, the fifth stage, dilated; fpn, a pyramid of all.
// detectron2_maskrcnn is the fpn one with no stage of its body frozen. SGD; upstream trains
// detectron2_maskrcnn at rate 0, here all have the others' rate.
// Input: pictures [1, 3, 800, 1067] of values up to 255, resized beforehand as upstream's loader
// does, eight objects each. Eval ends with masks pasted onto the picture.
// Weights are random, statistics as in blocks/frozen_resnet.h. In eval the classifier's weights are
// drawn wide, meant to lift some classes of a region above the threshold of 0.05.
// Regions are sampled twice along each side of a bin, where the reference takes a sample for each
// pixel or so; masks to learn from are drawn as bitmaps, the reference's come from polygons.
// Smoke: 96 x 128 pixels, a quarter of the width or less, one block a stage, 9 classes, an eighth
// of all lengths, fewer proposals.

#include <string>
#include <utility>

#include "runner/suite/blocks/region_detector.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::detectron2_rcnn {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t objects = 8;

enum class Features { c4, dc5, fpn };

struct Variant {
  Features features = Features::c4;
  std::int64_t depth = 50;  ///< layers of the body
  bool masks = false;
  std::int64_t frozen_stages = 1;
};

ResNetOptions body_options(Setup const& setup, Variant const& variant) {
  ResNetOptions options;
  options.depths =
      setup.pick<std::vector<std::int64_t>>({3, 4, variant.depth == 101 ? 23 : 6, 3}, {1, 1, 1, 1});
  options.width = setup.pick(64, 16);
  options.stride_first = true;
  options.dilate_last = variant.features == Features::dc5;
  if (variant.features == Features::c4) options.depths.pop_back();
  return options;
}

ProposalOptions proposal_options(Setup const& setup, Features features) {
  bool const trains = setup.test == Test::train;
  std::vector<double> sizes{32, 64, 128, 256, 512};
  for (auto& size : sizes)
    size /= setup.pick(1, 8);
  ProposalOptions options;
  if (features == Features::fpn) {
    for (auto const size : sizes)
      options.anchors.sizes.push_back({size});
    options.anchors.strides = {4, 8, 16, 32, 64};
    options.before_suppression = setup.pick(trains ? 2000 : 1000, 100);
    options.after_suppression = setup.pick(1000, 48);
  } else {
    options.anchors.sizes = {sizes};
    options.anchors.strides = {16};
    options.before_suppression = setup.pick(trains ? 12000 : 6000, 200);
    options.after_suppression = setup.pick(trains ? 2000 : 1000, 48);
  }
  options.sample = setup.pick(256, 64);
  return options;
}

RegionHeadOptions head_options(Setup const& setup, Variant const& variant) {
  RegionHeadOptions options;
  options.classes = setup.pick(81, 9);
  options.hidden = setup.pick(1024, 64);
  options.masks = variant.masks;
  options.mask_width = setup.pick(256, 32);
  options.sample = setup.pick(512, 32);
  options.detections = setup.pick(100, 16);
  options.strides = {16};
  if (variant.features == Features::fpn) options.strides = {4, 8, 16, 32};
  options.box_pool.aligned = true;
  options.box_pool.canonical = setup.pick(224, 28);
  options.mask_pool = options.box_pool;
  options.mask_pool.size = 14;
  if (variant.features == Features::c4) {
    options.box_pool.size = 14;
    options.mask_convolutions = 0;
  }
  options.class_deviation = setup.test == Test::train ? 0.01 : 0.1;
  return options;
}

RegionDetector make_detector(Setup const& setup, Variant const& variant) {
  constexpr double pixel_range = 255;
  RegionDetectorOptions options;
  options.body = {body_options(setup, variant), variant.frozen_stages, pixel_range};
  bool const pyramid = variant.features == Features::fpn;
  options.pyramid = pyramid ? setup.pick(256, 32) : 0;
  options.multiple = pyramid ? 32 : 1;
  if (variant.features == Features::c4) options.head_depth = setup.pick(3, 1);
  options.proposals = proposal_options(setup, variant.features);
  options.heads = head_options(setup, variant);
  return RegionDetector(options);
}

/// Boxes, labels and scores, and masks if any, of each picture.
std::vector<Tensor> finish(std::vector<Detections> const& pictures, PictureSize const& size) {
  std::vector<Tensor> all;
  for (auto const& each : pictures) {
    all.insert(all.end(), {each.boxes, each.labels, each.scores});
    if (each.masks.defined()) all.push_back(paste_by_sampling(each.masks, each.boxes, size));
  }
  return all;
}

std::unique_ptr<Workload> make_detectron2(Setup const& setup, Variant const& variant) {
  auto const size = setup.pick(PictureSize{800, 1067}, PictureSize{96, 128});
  auto detector = make_detector(setup, variant);
  setup.place(*detector);
  auto const pictures = draw_scenes(setup, size) * 255;
  auto const truths = draw_truths(setup, size, objects, setup.pick(81, 9));
  auto const mean =
      setup.place(torch::tensor({103.53, 116.28, 123.675}, torch::kFloat).view({3, 1, 1}));

  Supervised parts;
  parts.network = detector.ptr();
  parts.forward = [=, test = setup.test]() mutable {
    auto const normalised = pictures - mean;
    if (test == Test::train) return detector->losses(normalised, truths);
    return finish(detector->detect(normalised), size);
  };
  parts.loss = [](auto const& losses) {
    return torch::stack(losses).sum();
  };
  parts.optimizer = make_sgd(*detector, setup.pick(1e-3, 1e-2), 0.9, 1e-4);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace

std::unique_ptr<Workload> make_detectron2_fasterrcnn_r_101_c4(Setup const& setup) {
  return make_detectron2(setup, {Features::c4, 101});
}

std::unique_ptr<Workload> make_detectron2_fasterrcnn_r_101_dc5(Setup const& setup) {
  return make_detectron2(setup, {Features::dc5, 101});
}

std::unique_ptr<Workload> make_detectron2_fasterrcnn_r_101_fpn(Setup const& setup) {
  return make_detectron2(setup, {Features::fpn, 101});
}

std::unique_ptr<Workload> make_detectron2_fasterrcnn_r_50_c4(Setup const& setup) {
  return make_detectron2(setup, {Features::c4});
}

std::unique_ptr<Workload> make_detectron2_fasterrcnn_r_50_dc5(Setup const& setup) {
  return make_detectron2(setup, {Features::dc5});
}

std::unique_ptr<Workload> make_detectron2_fasterrcnn_r_50_fpn(Setup const& setup) {
  return make_detectron2(setup, {Features::fpn});
}

std::unique_ptr<Workload> make_detectron2_maskrcnn(Setup const& setup) {
  return make_detectron2(setup, {Features::fpn, 50, true, -1});
}

std::unique_ptr<Workload> make_detectron2_maskrcnn_r_101_c4(Setup const& setup) {
  return make_detectron2(setup, {Features::c4, 101, true});
}

std::unique_ptr<Workload> make_detectron2_maskrcnn_r_101_fpn(Setup const& setup) {
  return make_detectron2(setup, {Features::fpn, 101, true});
}

std::unique_ptr<Workload> make_detectron2_maskrcnn_r_50_c4(Setup const& setup) {
  return make_detectron2(setup, {Features::c4, 50, true});
}

std::unique_ptr<Workload> make_detectron2_maskrcnn_r_50_fpn(Setup const& setup) {
  return make_detectron2(setup, {Features::fpn, 50, true});
}

}  // namespace torchwatch::suite::detectron2_rcnn
