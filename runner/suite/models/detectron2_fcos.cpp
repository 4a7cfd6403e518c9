// FCOS: Tian et al., "FCOS: Fully Convolutional One-Stage Object Detection", 2019 (arXiv
// 1904.01355), after detectron2's fcos_R_50_FPN_1x as TorchBench runs it: batch normalisation in
// the heads, which TorchBench puts in place of the configuration's group normalisation. SGD, with
// the rate of TorchBench's other detectron2 models. Input: pictures [1, 3, 800, 1067] of values up
// to 255, resized beforehand as upstream's loader does, eight objects each.
// Upstream's own training stops at an error of Python's; here it runs as the reference means it.
// Weights are random, statistics as in blocks/frozen_resnet.h. In eval the classifier's weights are
// drawn so wide that about a thousand predictions pass the threshold of 0.2.
// Smoke: two pictures of 128 x 192 pixels, a quarter of the width or less, one block a stage, 8
// classes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runner/suite/blocks/anchors.h"
#include "runner/suite/blocks/frozen_resnet.h"
#include "runner/suite/blocks/objects.h"
#include "runner/suite/blocks/pyramid.h"
#include "runner/suite/blocks/region_detector.h"
#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t objects = 8;
constexpr std::int64_t candidates = 1000;  ///< of a level
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

/// Intersection over union less the share of the common hull that neither covers; for pairs.
Tensor generalised_iou(Tensor const& a, Tensor const& b) {
  auto const extent = [](Tensor const& low, Tensor const& high) {
    return (high - low).clamp_min(0).prod(1);
  };
  auto const low_a = a.slice(1, 0, 2), high_a = a.slice(1, 2, 4);
  auto const low_b = b.slice(1, 0, 2), high_b = b.slice(1, 2, 4);
  auto const common = extent(torch::maximum(low_a, low_b), torch::minimum(high_a, high_b));
  auto const hull = extent(torch::minimum(low_a, low_b), torch::maximum(high_a, high_b));
  auto const both = box_areas(a) + box_areas(b) - common;
  return common / (both + 1e-7) - (hull - both) / (hull + 1e-7);
}

Tensor focal_loss(Tensor const& logits, Tensor const& truth) {
  constexpr double alpha = 0.25;
  auto const p = logits.sigmoid();
  auto const entropy =
      torch::binary_cross_entropy_with_logits(logits, truth, {}, {}, at::Reduction::None);
  auto const wrong = (p * (1 - truth) + (1 - p) * truth).square();
  return (entropy * wrong * (alpha * truth + (1 - alpha) * (1 - truth))).sum();
}

/// Square anchors: their side is the stride of their level.
Tensor sides_of(Tensor const& anchors) {
  return anchors.slice(1, 2, 3) - anchors.slice(1, 0, 1);
}

Tensor centers_of(Tensor const& boxes) {
  return 0.5 * (boxes.slice(1, 0, 2) + boxes.slice(1, 2, 4));
}

/// Distances from each anchor's center to the box's edges, in sides of the anchor; and back.
Tensor encode(Tensor const& boxes, Tensor const& anchors) {
  auto const center = centers_of(anchors);
  auto const low = center - boxes.slice(1, 0, 2);
  auto const high = boxes.slice(1, 2, 4) - center;
  return torch::cat({low, high}, 1) / sides_of(anchors);
}

Tensor decode(Tensor const& distances, Tensor const& anchors) {
  auto const center = centers_of(anchors);
  auto const pixels = torch::relu(distances) * sides_of(anchors);
  return torch::cat({center - pixels.slice(1, 0, 2), center + pixels.slice(1, 2, 4)}, 1);
}

/// What each anchor should predict.
struct Goals {
  Tensor labels;  ///< [anchors], 0 for the background
  Tensor boxes;   ///< [anchors, 4]
};

/// Of the true boxes whose middle an anchor is in, and whose size is its level's, the smallest.
Goals assign(std::vector<Tensor> const& levels, Truth const& truth) {
  auto const anchors = torch::cat(levels);
  auto const side = sides_of(anchors).squeeze(1);
  auto lowest = side * 4, highest = side * 8;
  lowest.slice(0, 0, levels.front().size(0)).zero_();
  highest.slice(0, -levels.back().size(0)).fill_(std::numeric_limits<float>::infinity());

  auto const center = centers_of(anchors);
  auto const boxes = truth.boxes.unsqueeze(1);
  auto const reach = (center - centers_of(truth.boxes).unsqueeze(1)).abs().amax(2);
  auto const edges = torch::cat({center - boxes.slice(2, 0, 2), boxes.slice(2, 2, 4) - center}, 2);
  auto const farthest = edges.amax(2);
  auto const fits =
      (reach < 1.5 * side) & (edges.amin(2) > 0) & (farthest > lowest) & (farthest < highest);
  auto const quality = fits * (1e8 - box_areas(truth.boxes).unsqueeze(1));
  auto const [best, index] = quality.max(0);
  return {truth.labels.index_select(0, index) * (best > 1e-5), truth.boxes.index_select(0, index)};
}

class FcosImpl : public nn::Module {
 public:
  FcosImpl(Sizes const& sizes, double class_deviation);

  std::vector<Tensor> losses(Tensor const& pictures, std::vector<Truth> const& truths);
  std::vector<Detections> detect(Tensor const& pictures);

 private:
  Predictions predict(std::vector<Tensor> const& levels);
  Detections choose(Predictions const& predictions,
                    std::vector<Tensor> const& anchors,
                    std::int64_t picture) const;

  std::int64_t classes_;
  double normaliser_ = 300;
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

FcosImpl::FcosImpl(Sizes const& sizes, double class_deviation)
    : classes_(sizes.classes),
      class_tower_(make_tower(sizes.pyramid)),
      box_tower_(make_tower(sizes.pyramid)),
      logits_(convolution(sizes.pyramid, sizes.classes, class_deviation)),
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

std::vector<Tensor> FcosImpl::losses(Tensor const& pictures, std::vector<Truth> const& truths) {
  auto const padded = pad_pictures(pictures, 32);
  auto const stages = body_->features(padded);
  auto const levels = fpn_->forward({stages[1], stages[2], stages[3]});
  auto const predictions = predict(levels);
  auto const placed = anchors_.place(levels, size_of(padded));
  std::vector<Tensor> labels, boxes;
  for (auto const& truth : truths) {
    auto const goals = assign(placed, truth);
    labels.push_back(goals.labels);
    boxes.push_back(goals.boxes);
  }
  auto const label = torch::cat(labels);
  auto const found = label.nonzero().squeeze(1);
  normaliser_ =
      0.9 * normaliser_ + 0.1 * static_cast<double>(std::max<std::int64_t>(found.size(0), 1));

  auto const truth = torch::one_hot(label, classes_ + 1).slice(1, 1).to(torch::kFloat);
  auto const classes = focal_loss(torch::cat(predictions.logits, 1).flatten(0, 1), truth);

  auto const anchors = torch::cat(placed).repeat({pictures.size(0), 1}).index_select(0, found);
  auto const goal = torch::cat(boxes).index_select(0, found);
  auto const distances = torch::cat(predictions.distances, 1).flatten(0, 1).index_select(0, found);
  auto const places = (1 - generalised_iou(decode(distances, anchors), goal)).sum();

  auto const edges = encode(goal, anchors);
  auto const across = edges.index_select(1, torch::tensor({0, 2}, found.options()));
  auto const down = edges.index_select(1, torch::tensor({1, 3}, found.options()));
  auto const centered = (across.amin(1) / across.amax(1) * (down.amin(1) / down.amax(1))).sqrt();
  auto const centerness = torch::cat(predictions.centerness, 1).flatten().index_select(0, found);
  auto const middles =
      torch::binary_cross_entropy_with_logits(centerness, centered, {}, {}, at::Reduction::Sum);
  return {classes / normaliser_, places / normaliser_, middles / normaliser_};
}

Detections FcosImpl::choose(Predictions const& predictions,
                            std::vector<Tensor> const& anchors,
                            std::int64_t picture) const {
  std::vector<Tensor> boxes, labels, scores;
  for (std::size_t level = 0; level < anchors.size(); ++level) {
    auto const centerness = predictions.centerness[level][picture].sigmoid().unsqueeze(1);
    auto const all = (predictions.logits[level][picture].sigmoid() * centerness).sqrt().flatten();
    auto const likely = (all > lowest_score).nonzero().squeeze(1);
    auto const count = std::min(candidates, likely.size(0));
    auto const [score, order] = all.index_select(0, likely).topk(count);
    auto const best = likely.index_select(0, order);
    auto const anchor = best.div(classes_, "floor");
    boxes.push_back(decode(predictions.distances[level][picture].index_select(0, anchor),
                           anchors[level].index_select(0, anchor)));
    labels.push_back(best.remainder(classes_) + 1);
    scores.push_back(score);
  }
  Detections const found{torch::cat(boxes), torch::cat(labels), torch::cat(scores), {}};
  auto const kept =
      suppress(found.boxes, found.scores, found.labels, overlap).slice(0, 0, detections);
  return {found.boxes.index_select(0, kept),
          found.labels.index_select(0, kept),
          found.scores.index_select(0, kept),
          {}};
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
                                Sizes{{128, 192}, {1, 1, 1, 1}, 16, 32, 8});
  bool const trains = setup.test == Test::train;
  Fcos detector(sizes,
                trains ? 0.01 : 0.02 * std::sqrt(256.0 / static_cast<double>(sizes.pyramid)));
  setup.place(*detector);
  auto const pictures = draw_pictures(setup, sizes.picture) * 255;
  auto const truths = draw_truths(setup, sizes.picture, objects, sizes.classes + 1);
  auto const mean =
      setup.place(torch::tensor({103.53, 116.28, 123.675}, torch::kFloat).view({3, 1, 1}));

  Supervised parts;
  parts.network = detector.ptr();
  parts.forward = [=]() mutable {
    auto const normalised = pictures - mean;
    if (trains) return detector->losses(normalised, truths);
    std::vector<Tensor> outputs;
    for (auto const& each : detector->detect(normalised))
      outputs.insert(outputs.end(), {each.boxes, each.labels, each.scores});
    return outputs;
  };
  parts.loss = [](auto const& losses) {
    return torch::stack(losses).sum();
  };
  parts.optimizer = make_sgd(*detector, setup.pick(1e-3, 1e-2), 0.9, 1e-4);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite
