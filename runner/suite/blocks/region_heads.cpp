#include "runner/suite/blocks/region_heads.h"

#include "runner/suite/blocks/boxes.h"
#include "runner/suite/blocks/matching.h"
#include "runner/suite/layers.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr BoxCoder coder{{10, 10, 5, 5}};

nn::Linear linear(std::int64_t in, std::int64_t out, double deviation) {
  nn::Linear layer(in, out);
  nn::init::normal_(layer->weight, 0, deviation);
  nn::init::zeros_(layer->bias);
  return layer;
}

nn::Linear hidden_linear(std::int64_t in, std::int64_t out) {
  nn::Linear layer(in, out);
  nn::init::kaiming_uniform_(layer->weight, 1);
  nn::init::zeros_(layer->bias);
  return layer;
}

/// A layer of its own only for the sake of its parameters' names.
class MaskLayerImpl : public nn::Module {
 public:
  MaskLayerImpl(std::int64_t in, std::int64_t out)
      : conv_(register_module("0", nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)))) {}

  Tensor forward(Tensor const& x) { return conv_(x).relu_(); }

 private:
  nn::Conv2d conv_;
};

TORCH_MODULE(MaskLayer);

nn::Sequential make_box_head(std::int64_t in, std::int64_t hidden) {
  nn::Sequential head;
  head->push_back("flatten", nn::Flatten());
  head->push_back("fc6", hidden_linear(in, hidden));
  head->push_back("relu6", nn::ReLU(nn::ReLUOptions(true)));
  head->push_back("fc7", hidden_linear(hidden, hidden));
  head->push_back("relu7", nn::ReLU(nn::ReLUOptions(true)));
  return head;
}

/// Labels of those that are chosen, of [regions, objects' classes].
Tensor find_labels(Tensor const& chosen) {
  return chosen.nonzero().select(1, 1) + 1;
}

/// Returns one choice of `all`, [regions, choices, ...], for each region: the index in `chosen`,
/// [regions].
Tensor pick(Tensor const& all, Tensor const& chosen) {
  return all.index({torch::arange(chosen.size(0), chosen.options()), chosen});
}

/// Objects of all pictures among what is [all regions, ...].
Tensor objects_of(Tensor const& all,
                  std::vector<std::int64_t> const& regions,
                  std::vector<std::int64_t> const& objects) {
  std::vector<Tensor> parts;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    parts.push_back(all.slice(0, first, first + objects[i]));
    first += regions[i];
  }
  return torch::cat(parts);
}

}  // namespace

RegionHeadsImpl::RegionHeadsImpl(std::int64_t channels, RegionHeadOptions const& options)
    : options_(options) {
  auto width = options.hidden;
  if (options.shared) {
    shared_ = register_module("res5", options.shared);
    width = channels = options.shared_channels;
  } else {
    auto const bins = options.box_pool.size * options.box_pool.size;
    box_head_ = register_module("box_head", make_box_head(channels * bins, width));
  }
  auto const drawn = options.classes - (options.draws_background ? 0 : 1);
  logits_ = linear(width, options.classes, options.class_deviation);
  deltas_ = linear(width, drawn * 4, 0.001);
  register_module("box_predictor",
                  join({{"cls_score", logits_.ptr()}, {"bbox_pred", deltas_.ptr()}}));
  if (options.masks) make_mask_branch(channels);
}

void RegionHeadsImpl::make_mask_branch(std::int64_t channels) {
  mask_head_ = nn::Sequential();
  for (std::int64_t i = 0; i < options_.mask_convolutions; ++i) {
    mask_head_->push_back(MaskLayer(channels, options_.mask_width));
    channels = options_.mask_width;
  }
  if (!mask_head_->is_empty()) register_module("mask_head", mask_head_);
  auto const drawn = options_.classes - (options_.draws_background ? 0 : 1);
  auto const growth = nn::ConvTranspose2dOptions(channels, options_.mask_width, 2).stride(2);
  mask_predictor_ = register_module("mask_predictor", nn::Sequential());
  mask_predictor_->push_back("conv5_mask", nn::ConvTranspose2d(growth));
  mask_predictor_->push_back("relu", nn::ReLU(nn::ReLUOptions(true)));
  mask_predictor_->push_back("mask_fcn_logits",
                             nn::Conv2d(nn::Conv2dOptions(options_.mask_width, drawn, 1)));
  for (auto const* branch : {&mask_head_, &mask_predictor_}) {
    for (auto const& parameter : (*branch)->named_parameters()) {
      if (parameter->dim() == 1)
        nn::init::zeros_(parameter.value());
      else
        nn::init::kaiming_normal_(parameter.value(), 0, torch::kFanOut, torch::kReLU);
    }
  }
}

Tensor RegionHeadsImpl::columns(Tensor const& labels) const {
  return options_.draws_background ? labels : labels - 1;
}

Tensor RegionHeadsImpl::pool(std::vector<Tensor> const& levels,
                             std::vector<Tensor> const& boxes,
                             PoolOptions const& options) {
  auto const pooled = pool_regions(levels, boxes, options_.strides, options);
  return shared_ ? shared_->forward(pooled) : pooled;
}

RegionHeadsImpl::Predictions RegionHeadsImpl::predict(Tensor const& pooled) {
  auto const x = shared_ ? pooled.mean({2, 3}) : box_head_->forward(pooled);
  auto const deltas = deltas_(x).to(torch::kFloat);
  return {logits_(x).to(torch::kFloat), deltas.view({deltas.size(0), deltas.size(1) / 4, 4})};
}

RegionHeadsImpl::Lesson RegionHeadsImpl::draw_lesson(Tensor const& proposals,
                                                     Truth const& truth) const {
  auto const boxes = torch::cat({proposals, truth.boxes});
  auto const matching = match(pairwise_iou(truth.boxes, boxes), 0.5, 0.5, false);
  auto labels = truth.labels.index({matching.truth});
  labels.index_put_({matching.label == 0}, 0);
  auto const sample = draw_sample(labels, options_.sample, 0.25);
  auto const both = torch::cat({sample.positive, sample.negative});
  return {boxes.index({both}),
          labels.index({both}),
          matching.truth.index({both}),
          sample.positive.size(0)};
}

std::vector<Tensor> RegionHeadsImpl::losses(std::vector<Tensor> const& levels,
                                            std::vector<Tensor> const& proposals,
                                            std::vector<Truth> const& truths) {
  std::vector<Lesson> lessons;
  std::vector<Tensor> boxes, labels;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    lessons.push_back(draw_lesson(proposals[i], truths[i]));
    boxes.push_back(lessons.back().boxes);
    labels.push_back(lessons.back().labels);
  }
  auto const pooled = pool(levels, boxes, options_.box_pool);
  auto const predictions = predict(pooled);
  std::vector<Tensor> all{torch::cross_entropy_loss(predictions.logits, torch::cat(labels)),
                          box_loss(predictions, lessons, truths)};
  if (options_.masks) all.push_back(mask_loss(levels, pooled, lessons, truths));
  return all;
}

Tensor RegionHeadsImpl::box_loss(Predictions const& predictions,
                                 std::vector<Lesson> const& lessons,
                                 std::vector<Truth> const& truths) const {
  std::vector<Tensor> guesses, goals;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    auto const& lesson = lessons[i];
    auto const objects = lesson.objects;
    auto const deltas = predictions.deltas.slice(0, first, first + objects);
    guesses.push_back(pick(deltas, columns(lesson.labels.slice(0, 0, objects))));
    goals.push_back(coder.encode(truths[i].boxes.index({lesson.truth.slice(0, 0, objects)}),
                                 lesson.boxes.slice(0, 0, objects)));
    first += lesson.boxes.size(0);
  }
  auto const sum = torch::smooth_l1_loss(
      torch::cat(guesses), torch::cat(goals), at::Reduction::Sum, options_.beta);
  return sum / first;
}

Tensor RegionHeadsImpl::mask_loss(std::vector<Tensor> const& levels,
                                  Tensor const& pooled,
                                  std::vector<Lesson> const& lessons,
                                  std::vector<Truth> const& truths) {
  auto const side = (shared_ ? pooled.size(2) : options_.mask_pool.size) * 2;
  PoolOptions const crop{side, options_.mask_pool.samples, options_.mask_pool.aligned};
  std::vector<std::int64_t> regions, objects;
  std::vector<Tensor> boxes, labels, goals;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    auto const count = lessons[i].objects;
    regions.push_back(lessons[i].boxes.size(0));
    objects.push_back(count);
    boxes.push_back(lessons[i].boxes.slice(0, 0, count));
    labels.push_back(lessons[i].labels.slice(0, 0, count));
    // Every mask is a channel; each region wants that of its own object
    auto const cropped = pool_regions(truths[i].masks.to(torch::kFloat), boxes.back(), 1, crop);
    goals.push_back(pick(cropped, lessons[i].truth.slice(0, 0, count)));
  }
  auto const regions_of_objects =
      shared_ ? objects_of(pooled, regions, objects) : pool(levels, boxes, options_.mask_pool);
  auto goal = torch::cat(goals);
  if (options_.binary_masks) goal = (goal >= 0.5).to(torch::kFloat);
  return torch::binary_cross_entropy_with_logits(
      predict_masks(regions_of_objects, torch::cat(labels)), goal);
}

Tensor RegionHeadsImpl::predict_masks(Tensor const& pooled, Tensor const& labels) {
  auto const features = mask_head_->is_empty() ? pooled : mask_head_->forward(pooled);
  return pick(mask_predictor_->forward(features), columns(labels)).to(torch::kFloat);
}

Detections RegionHeadsImpl::choose(Predictions const& predictions,
                                   Tensor const& proposals,
                                   PictureSize const& size) const {
  auto const score_of = predictions.logits.softmax(1).slice(1, 1);
  auto const deltas = predictions.deltas.slice(1, options_.draws_background ? 1 : 0);
  auto const box_of = clip_boxes(coder.decode(deltas, proposals.unsqueeze(1)), size);
  auto const likely = score_of > options_.lowest_score;
  Detections found{box_of.index({likely}), find_labels(likely), score_of.index({likely}), {}};
  if (options_.smallest_side > 0) found = found.at(are_longer(found.boxes, options_.smallest_side));
  auto const kept = suppress(found.boxes, found.scores, found.labels, options_.overlap);
  return found.at(kept.slice(0, 0, options_.detections));
}

std::vector<Detections> RegionHeadsImpl::detect(std::vector<Tensor> const& levels,
                                                std::vector<Tensor> const& proposals,
                                                PictureSize const& size) {
  auto const predictions = predict(pool(levels, proposals, options_.box_pool));
  std::vector<Detections> all;
  std::vector<Tensor> boxes, labels;
  std::int64_t first = 0;
  for (auto const& each : proposals) {
    auto const stop = first + each.size(0);
    Predictions const own{predictions.logits.slice(0, first, stop),
                          predictions.deltas.slice(0, first, stop)};
    all.push_back(choose(own, each, size));
    boxes.push_back(all.back().boxes);
    labels.push_back(all.back().labels);
    first = stop;
  }
  if (!options_.masks) return all;
  auto const masks =
      predict_masks(pool(levels, boxes, options_.mask_pool), torch::cat(labels)).sigmoid();
  first = 0;
  for (auto& each : all) {
    auto const stop = first + each.boxes.size(0);
    each.masks = masks.slice(0, first, stop);
    first = stop;
  }
  return all;
}

}  // namespace torchwatch::suite
