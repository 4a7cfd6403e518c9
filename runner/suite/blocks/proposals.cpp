#include "runner/suite/blocks/proposals.h"

#include <algorithm>

#include "runner/suite/blocks/matching.h"
#include "runner/suite/layers.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

nn::Conv2d make_predictor(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  nn::Conv2d layer(nn::Conv2dOptions(in, out, kernel).padding(kernel / 2));
  nn::init::normal_(layer->weight, 0, 0.01);
  nn::init::zeros_(layer->bias);
  return layer;
}

}  // namespace

ProposalNetworkImpl::ProposalNetworkImpl(std::int64_t channels, ProposalOptions const& options)
    : options_(options),
      anchors_(options.anchors),
      conv_(make_predictor(channels, channels, 3)),
      logits_(make_predictor(channels, anchors_.per_place(), 1)),
      deltas_(make_predictor(channels, anchors_.per_place() * 4, 1)) {
  auto const conv = join({{"0", nn::Sequential(conv_).ptr()}});
  register_module(
      "head", join({{"conv", conv}, {"cls_logits", logits_.ptr()}, {"bbox_pred", deltas_.ptr()}}));
}

ProposalNetworkImpl::Predictions ProposalNetworkImpl::predict(std::vector<Tensor> const& levels) {
  Predictions all;
  for (auto const& level : levels) {
    auto const x = torch::relu(conv_(level));
    all.logits.push_back(by_anchor(logits_(x), 1).squeeze(2));
    all.deltas.push_back(by_anchor(deltas_(x), 4));
  }
  return all;
}

Proposals ProposalNetworkImpl::forward(std::vector<Tensor> const& levels,
                                       PictureSize const& padded,
                                       PictureSize const& size,
                                       std::vector<Truth> const& truths) {
  auto const predictions = predict(levels);
  auto const anchors = anchors_.place(levels, padded);
  std::vector<Tensor> boxes;
  for (std::size_t level = 0; level < levels.size(); ++level)
    boxes.push_back(BoxCoder().decode(predictions.deltas[level].detach(), anchors[level]));
  Proposals proposals;
  for (std::int64_t picture = 0; picture < levels[0].size(0); ++picture)
    proposals.boxes.push_back(select(predictions, boxes, picture, size));
  if (!truths.empty()) proposals.losses = losses(predictions, torch::cat(anchors), truths);
  return proposals;
}

Tensor ProposalNetworkImpl::select(Predictions const& predictions,
                                   std::vector<Tensor> const& boxes,
                                   std::int64_t picture,
                                   PictureSize const& size) const {
  std::vector<Tensor> best, scores, groups;
  for (std::size_t level = 0; level < boxes.size(); ++level) {
    auto const logits = predictions.logits[level][picture].detach();
    auto const count = std::min(options_.before_suppression, logits.size(0));
    auto const [score, index] = logits.topk(count);
    best.push_back(boxes[level][picture].index({index}));
    scores.push_back(score);
    groups.push_back(torch::full({count}, static_cast<std::int64_t>(level), index.options()));
  }
  auto const clipped = clip_boxes(torch::cat(best), size);
  auto const sound = are_longer(clipped, options_.smallest_side);
  auto const candidates = clipped.index({sound});
  auto const kept = suppress(candidates,
                             torch::cat(scores).index({sound}),
                             torch::cat(groups).index({sound}),
                             options_.overlap);
  return candidates.index({kept.slice(0, 0, options_.after_suppression)});
}

std::vector<Tensor> ProposalNetworkImpl::losses(Predictions const& predictions,
                                                Tensor const& anchors,
                                                std::vector<Truth> const& truths) const {
  auto const logits = torch::cat(predictions.logits, 1);
  auto const deltas = torch::cat(predictions.deltas, 1);
  std::vector<Tensor> scores, labels, guesses, goals;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    auto const picture = static_cast<std::int64_t>(i);
    auto const matching = match(pairwise_iou(truths[i].boxes, anchors), 0.3, 0.7, true);
    auto const sample = draw_sample(matching.label, options_.sample, 0.5);
    auto const both = torch::cat({sample.positive, sample.negative});
    scores.push_back(logits[picture].index({both}));
    labels.push_back(matching.label.index({both}));
    auto const truth = matching.truth.index({sample.positive});
    guesses.push_back(deltas[picture].index({sample.positive}));
    goals.push_back(
        BoxCoder().encode(truths[i].boxes.index({truth}), anchors.index({sample.positive})));
  }
  auto const label = torch::cat(labels).to(torch::kFloat);
  auto const boxes = torch::smooth_l1_loss(
      torch::cat(guesses), torch::cat(goals), at::Reduction::Sum, options_.beta);
  return {torch::binary_cross_entropy_with_logits(torch::cat(scores), label),
          boxes / label.size(0)};
}

}  // namespace torchwatch::suite
