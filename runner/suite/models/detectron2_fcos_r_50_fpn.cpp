// FCOS: Tian et al., "FCOS: Fully Convolutional One-Stage Object Detection", 2019 (arXiv
// 1904.01355), after detectron2's fcos_R_50_FPN_1x as TorchBench runs it: batch normalisation in
// the heads, which TorchBench puts in place of the configuration's group normalisation, and no
// training, which it does not have. Input: pictures [1, 3, 800, 1067] of values up to 255, resized
// beforehand as upstream's loader does.
// Weights are random, statistics as in blocks/frozen_resnet.h. The classifier's weights are drawn
// wide, meant to lift some predictions above the threshold of 0.2.
// Smoke: 96 x 128 pixels, a quarter of the width or less, one block a stage, 8 classes.

#include <algorithm>
#include <cmath>
#include <utility>

#include "runner/suite/blocks/anchors.h"
#include "runner/suite/blocks/frozen_resnet.h"
#include "runner/suite/blocks/objects.h"
#include "runner/suite/blocks/pyramid.h"
#include "runner/suite/blocks/region_detector.h"
#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::detectron2_fcos_r_50_fpn {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t candidates = 1000;  ///< most per level
constexpr std::int64_t detections = 100;
constexpr double lowest_score = 0.2;
constexpr double overlap = 0.6;
std::vector<std::int64_t> const strides{8, 16, 32, 64, 128};

struct Sizes {
  PictureSize picture;
  std::vector<std::int64_t> depths;
  std::int64_t width, pyramid, classes;
};

nn::Conv2d convolution(std::int64_t in, std::int64_t out, double deviation) {
  nn::Conv2d layer(nn::Conv2dOptions(in, out, 3).padding(1));
  nn::init::normal_(layer->weight, 0, deviation);
  nn::init::zeros_(layer->bias);
  return layer;
}

/// Four convolutions, normalised.
nn::Sequential make_tower(std::int64_t width) {
  nn::Sequential tower;
  for (int i = 0; i < 4; ++i) {
    tower->push_back(convolution(width, width, std::sqrt(2 / (9.0 * static_cast<double>(width)))));
    tower->push_back(nn::BatchNorm2d(width));
    tower->push_back(nn::ReLU(nn::ReLUOptions(true)));
  }
  return tower;
}

/// For each level, in the order of anchors.
struct Predictions {
  std::vector<Tensor> logits;      ///< [batch, anchors, classes]
  std::vector<Tensor> distances;   ///< [batch, anchors, 4], from the anchor to each edge
  std::vector<Tensor> centerness;  ///< [batch, anchors], logits
};

/// Square anchors: their side is the stride of their level.
Tensor sides_of(Tensor const& anchors) {
  return anchors.slice(1, 2, 3) - anchors.slice(1, 0, 1);
}

Tensor centers_of(Tensor const& boxes) {
  return 0.5 * (boxes.slice(1, 0, 2) + boxes.slice(1, 2, 4));
}

/// Distances to edges are in sides of the anchor and never negative.
Tensor decode(Tensor const& distances, Tensor const& anchors) {
  auto const center = centers_of(anchors);
  auto const pixels = torch::relu(distances) * sides_of(anchors);
  return torch::cat({center - pixels.slice(1, 0, 2), center + pixels.slice(1, 2, 4)}, 1);
}

class FcosImpl : public nn::Module {
 public:
  explicit FcosImpl(Sizes const& sizes);

  std::vector<Detections> detect(Tensor const& pictures);

 private:
  Predictions predict(std::vector<Tensor> const& levels);
  Detections choose(Predictions const& predictions,
                    std::vector<Tensor> const& anchors,
                    std::int64_t picture) const;

  std::int64_t classes_;
  ResNet body_{nullptr};
  Pyramid fpn_{nullptr};
  nn::Sequential class_tower_, box_tower_;
  nn::Conv2d logits_, distances_, centerness_;
  Anchors anchors_;
};

TORCH_MODULE(Fcos);

AnchorOptions anchor_options() {
  AnchorOptions options;
  for (auto const stride : strides)
    options.sizes.push_back({static_cast<double>(stride)});
  options.ratios = {1};
  options.strides = strides;
  options.offset = 0.5;
  return options;
}

FcosImpl::FcosImpl(Sizes const& sizes)
    : classes_(sizes.classes),
      class_tower_(make_tower(sizes.pyramid)),
      box_tower_(make_tower(sizes.pyramid)),
      logits_(convolution(
          sizes.pyramid, sizes.classes, 0.32 / std::sqrt(static_cast<double>(sizes.pyramid)))),
      distances_(convolution(sizes.pyramid, 4, 0.01)),
      centerness_(convolution(sizes.pyramid, 1, 0.01)),
      anchors_(anchor_options()) {
  constexpr double prior = 0.01;
  nn::init::constant_(logits_->bias, -std::log((1 - prior) / prior));
  FrozenOptions body;
  body.resnet.depths = sizes.depths;
  body.resnet.width = sizes.width;
  body.resnet.stride_first = true;
  body.pixel_range = 255;
  body_ = make_frozen_resnet(body);
  auto channels = ResNetImpl::channels(body.resnet);
  channels.erase(channels.begin());
  fpn_ = Pyramid(channels, sizes.pyramid, PyramidTop::convolved);
  register_module("backbone", join({{"body", body_.ptr()}, {"fpn", fpn_.ptr()}}));
  register_module("head",
                  join({{"cls_subnet", class_tower_.ptr()},
                        {"bbox_subnet", box_tower_.ptr()},
                        {"cls_score", logits_.ptr()},
                        {"bbox_pred", distances_.ptr()},
                        {"ctrness", centerness_.ptr()}}));
}

Predictions FcosImpl::predict(std::vector<Tensor> const& levels) {
  Predictions all;
  for (auto const& level : levels) {
    all.logits.push_back(by_anchor(logits_(class_tower_->forward(level)), classes_));
    auto const x = box_tower_->forward(level);
    all.distances.push_back(by_anchor(distances_(x), 4));
    all.centerness.push_back(by_anchor(centerness_(x), 1).squeeze(2));
  }
  return all;
}

Detections FcosImpl::choose(Predictions const& predictions,
                            std::vector<Tensor> const& anchors,
                            std::int64_t picture) const {
  std::vector<Tensor> boxes, labels, scores;
  for (std::size_t level = 0; level < anchors.size(); ++level) {
    auto const centerness = predictions.centerness[level][picture].sigmoid().unsqueeze(1);
    auto const all = (predictions.logits[level][picture].sigmoid() * centerness).sqrt();
    auto const likely = all > lowest_score;
    auto const places = likely.nonzero();  // anchor and class of each
    auto const count = std::min(candidates, places.size(0));
    auto const [score, order] = all.index({likely}).topk(count);
    auto const best = places.index({order});
    auto const anchor = best.select(1, 0);
    boxes.push_back(decode(predictions.distances[level][picture].index({anchor}),
                           anchors[level].index({anchor})));
    labels.push_back(best.select(1, 1) + 1);
    scores.push_back(score);
  }
  Detections const found{torch::cat(boxes), torch::cat(labels), torch::cat(scores), {}};
  auto const kept = suppress(found.boxes, found.scores, found.labels, overlap);
  return found.at(kept.slice(0, 0, detections));
}

std::vector<Detections> FcosImpl::detect(Tensor const& pictures) {
  auto const padded = pad_pictures(pictures, 32);
  auto const stages = body_->features(padded);
  auto const levels = fpn_->forward({stages[1], stages[2], stages[3]});
  auto const predictions = predict(levels);
  auto const anchors = anchors_.place(levels, size_of(padded));
  std::vector<Detections> all;
  for (std::int64_t picture = 0; picture < pictures.size(0); ++picture) {
    all.push_back(choose(predictions, anchors, picture));
    all.back().boxes = clip_boxes(all.back().boxes, size_of(pictures));
  }
  return all;
}

}  // namespace

std::unique_ptr<Workload> make_detectron2_fcos_r_50_fpn(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{{800, 1067}, {3, 4, 6, 3}, 64, 256, 80},
                                Sizes{{96, 128}, {1, 1, 1, 1}, 16, 32, 8});
  Fcos detector(sizes);
  setup.place(*detector);
  auto const pictures = draw_scenes(setup, sizes.picture) * 255;
  auto const mean =
      setup.place(torch::tensor({103.53, 116.28, 123.675}, torch::kFloat).view({3, 1, 1}));

  Supervised parts;
  parts.network = detector.ptr();
  parts.forward = [=]() mutable {
    std::vector<Tensor> outputs;
    for (auto const& each : detector->detect(pictures - mean))
      outputs.insert(outputs.end(), {each.boxes, each.labels, each.scores});
    return outputs;
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::detectron2_fcos_r_50_fpn
