// EfficientDet-D1 (paper in blocks/efficientdet.h): effdet's tf_efficientdet_d1 on timm's
// tf_efficientnet_b1, with focal and Huber loss, plain momentum, clipped gradients and stochastic
// depth in the backbone. Input: images [batch, 3, 640, 640] with two objects of 90 classes for each
// of five levels; their anchors are labelled beforehand, as effdet's loader does. Eval: effdet's
// predictions: of all anchors and classes the best 5000 decoded, overlaps of one class suppressed,
// 100 a picture left. Smoke: 128 x 128 pixels, a quarter of the backbone's width and one or two
// blocks a stage, two cells of 16 channels, heads of two layers, 5 classes, the best 500. Left out:
// the warm-up of the rate, which changes no operator, and the validation that upstream counts as
// training.

#include <utility>

#include "runner/suite/blocks/boxes.h"
#include "runner/suite/blocks/efficientdet.h"
#include "runner/suite/blocks/timm.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::timm_efficientdet {
namespace {

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;

constexpr std::int64_t first_stride = 8;
constexpr std::int64_t octaves = 3;
constexpr std::int64_t background = -1;
constexpr std::int64_t ignored = -2;

struct Sizes {
  std::int64_t side;
  double anchor;  ///< sides of a square anchor, in strides
  std::int64_t candidates, detections;
  EfficientDetOptions network;
};

/// tf_efficientnet_b1, without its head.
EfficientNetOptions backbone_options(Setup const& setup) {
  EfficientNetOptions options;
  options.stages = {{{2, {3}, 1, 1, 16, 0.25}},
                    {{3, {3}, 2, 6, 24, 0.25}},
                    {{3, {5}, 2, 6, 40, 0.25}},
                    {{4, {3}, 2, 6, 80, 0.25}},
                    {{4, {5}, 1, 6, 112, 0.25}},
                    {{5, {5}, 2, 6, 192, 0.25}},
                    {{2, {3}, 1, 6, 320, 0.25}}};
  options.same = true;
  options.norm = {1e-3, 0.01};
  options.drop_path = 0.2;
  if (setup.scale == Scale::full) return options;
  options.stem = 8;
  for (auto& stage : options.stages) {
    stage[0].repeats = stage[0].out == 24 ? 2 : 1;
    stage[0].out /= 4;
  }
  return options;
}

Sizes make_sizes(Setup const& setup) {
  Sizes sizes{setup.pick(640, 128),
              setup.pick(4.0, 1.0),
              setup.pick(5000, 500),
              100,
              EfficientDetOptions{backbone_options(setup)}};
  if (setup.scale == Scale::full) return sizes;
  sizes.network.width = 16;
  sizes.network.cells = 2;
  sizes.network.head_layers = 2;
  sizes.network.classes = 5;
  return sizes;
}

std::int64_t stride_of(std::int64_t level) {
  return first_stride << level;
}

/// [anchors, 4], (x, y, x, y): level by level, row by row, nine at each place.
Tensor make_anchors(Sizes const& sizes) {
  auto const aspects = torch::tensor({1.0, 1.0, 1.4, 0.7, 0.7, 1.4}).view({1, 3, 2});
  auto const scales = torch::pow(2.0, torch::arange(octaves) / static_cast<double>(octaves));
  std::vector<Tensor> levels;
  for (std::int64_t level = 0; level < sizes.network.levels; ++level) {
    auto const stride = static_cast<double>(stride_of(level));
    auto const centres = torch::arange(stride / 2, static_cast<double>(sizes.side), stride);
    auto const places = centres.size(0);
    auto const grid =
        torch::stack(
            {centres.expand({places, places}), centres.unsqueeze(1).expand({places, places})}, -1)
            .view({-1, 1, 2});
    auto const halves =
        (scales.view({octaves, 1, 1}) * aspects * (sizes.anchor * stride / 2)).view({1, -1, 2});
    levels.push_back(torch::cat({grid - halves, grid + halves}, 2).view({-1, 4}));
  }
  return torch::cat(levels).to(torch::kFloat);
}

/// Objects in one picture, two at places of each level and about as large as its square anchors.
Tensor make_boxes(Sizes const& sizes) {
  auto const picture = static_cast<double>(sizes.side);
  std::vector<Tensor> boxes;
  for (std::int64_t level = 0; level < sizes.network.levels; ++level) {
    auto const stride = stride_of(level);
    auto const anchor = sizes.anchor * static_cast<double>(stride);
    auto const halves = (anchor * (0.9 + 0.2 * torch::rand({2, 2}))).clamp_max(0.95 * picture) / 2;
    auto const places = torch::randint(sizes.side / stride, {2, 2}) + 0.45;
    auto const wanted = (places + 0.1 * torch::rand({2, 2})) * stride;
    auto const centres = torch::minimum(torch::maximum(wanted, halves), picture - halves);
    boxes.push_back(torch::cat({centres - halves, centres + halves}, 1));
  }
  return torch::cat(boxes);
}

struct Labels {
  Tensor classes;  ///< [anchors], of the object, or background
  Tensor codes;    ///< [anchors, 4], 0 for the background
};

/// Each anchor belongs to the object it overlaps most, if that is half or more; and each object has
/// its best anchor at least.
Labels label_anchors(Tensor const& boxes, Tensor const& classes, Tensor const& anchors) {
  auto const overlaps = pairwise_iou(boxes, anchors);
  auto [overlap, object] = overlaps.max(0);
  auto found = overlap >= 0.5;
  auto const best = overlaps.argmax(1);
  object.index_copy_(0, best, torch::arange(boxes.size(0)));
  found.index_fill_(0, best, true);
  auto const codes = BoxCoder{}.encode(boxes.index_select(0, object), anchors);
  return {
      torch::where(found, classes.index_select(0, object), torch::full_like(object, background)),
      codes * found.unsqueeze(1)};
}

/// Classes and codes by level: [batch, height, width, anchors at a place], and four times as many
/// codes.
struct Targets {
  std::vector<Tensor> classes, codes;
  Tensor objects;  ///< anchors that belong to one, and one more
};

Targets make_targets(Setup const& setup, Sizes const& sizes, Tensor const& anchors) {
  std::vector<Tensor> classes, codes;
  for (std::int64_t image = 0; image < setup.batch; ++image) {
    auto const boxes = make_boxes(sizes);
    auto const kinds = torch::randint(sizes.network.classes, {boxes.size(0)}, torch::kLong);
    auto const labels = label_anchors(boxes, kinds, anchors);
    classes.push_back(labels.classes);
    codes.push_back(labels.codes);
  }
  auto const all_classes = torch::stack(classes).to(setup.device);
  auto const all_codes = torch::stack(codes).to(setup.device);

  Targets targets;
  targets.objects = (all_classes != background).sum() + 1.0;
  std::int64_t first = 0;
  for (std::int64_t level = 0; level < sizes.network.levels; ++level) {
    auto const places = sizes.side / stride_of(level);
    auto const last = first + places * places * sizes.network.anchors;
    auto const part = [&](Tensor const& all) {
      return all.index({Slice(), Slice(first, last)}).reshape({setup.batch, places, places, -1});
    };
    targets.classes.push_back(part(all_classes));
    targets.codes.push_back(part(all_codes));
    first = last;
  }
  return targets;
}

/// Lin et al., "Focal Loss for Dense Object Detection", 2017 (arXiv 1708.02002): cross entropy with
/// little weight on what is clear. `scores`: [batch, height, width, anchors * classes].
Tensor focal_loss(Tensor const& scores, Tensor const& classes, Tensor const& objects) {
  constexpr double alpha = 0.25;
  constexpr double gamma = 1.5;
  auto shape = classes.sizes().vec();
  shape.push_back(scores.size(-1) / classes.size(-1));
  auto const is_object = (classes >= 0).unsqueeze(-1);
  auto const wanted =
      (torch::zeros(shape, scores.options()).scatter(-1, classes.unsqueeze(-1) * is_object, 1) *
       is_object)
          .view(scores.sizes());
  auto const unwanted = torch::rsub(wanted, 1);
  auto const probability = scores.sigmoid();
  auto const hit = wanted * probability + unwanted * torch::rsub(probability, 1);
  auto const weight = (wanted * alpha + unwanted * (1 - alpha)) * torch::rsub(hit, 1).pow(gamma);
  auto const entropy =
      torch::binary_cross_entropy_with_logits(scores, wanted, {}, {}, torch::Reduction::None);
  auto const loss = objects.reciprocal() * weight * entropy;
  return (loss.view(shape) * (classes != ignored).unsqueeze(-1)).sum();
}

Tensor huber_loss(Tensor const& codes, Tensor const& wanted, Tensor const& objects) {
  constexpr double delta = 0.1;
  auto const error = (codes - wanted).abs();
  auto const quadratic = error.clamp(c10::nullopt, delta);
  auto const loss = 0.5 * quadratic.pow(2) + delta * (error - quadratic);
  return (loss * (wanted != 0)).sum() / (objects * 4);
}

/// `outputs`: scores by level, then codes by level.
Tensor detection_loss(std::vector<Tensor> const& outputs, Targets const& targets) {
  constexpr double box_weight = 50;
  auto const levels = targets.classes.size();
  auto const channels_last = [](Tensor const& x) {
    return x.permute({0, 2, 3, 1}).to(torch::kFloat);
  };
  std::vector<Tensor> class_losses, box_losses;
  for (std::size_t level = 0; level < levels; ++level) {
    auto const scores = channels_last(outputs[level]).contiguous();
    auto const codes = channels_last(outputs[levels + level]);
    class_losses.push_back(focal_loss(scores, targets.classes[level], targets.objects));
    box_losses.push_back(huber_loss(codes, targets.codes[level], targets.objects));
  }
  return torch::stack(class_losses).sum() + box_weight * torch::stack(box_losses).sum();
}

/// One picture's candidates.
struct Candidates {
  Tensor scores, codes, anchors, classes;  ///< logits [count, 1], [count, 4] twice, [count]
};

/// The boxes that the codes mean, of any size.
Tensor decode(Tensor const& codes, Tensor const& anchors) {
  auto const edge = anchors.unbind(1);
  auto const code = codes.unbind(1);
  auto const anchor_width = edge[2] - edge[0];
  auto const anchor_height = edge[3] - edge[1];
  auto const width = code[2].exp() * anchor_width;
  auto const height = code[3].exp() * anchor_height;
  auto const x = code[0] * anchor_width + (edge[0] + edge[2]) / 2;
  auto const y = code[1] * anchor_height + (edge[1] + edge[3]) / 2;
  return torch::stack({x - width / 2, y - height / 2, x + width / 2, y + height / 2}, 1);
}

/// [detections, 6]: place, size, score and class, best first, then zeros.
Tensor choose(Candidates const& candidates,
              Tensor const& image_scale,
              Tensor const& image_size,
              std::int64_t detections) {
  auto const corner = image_size / image_scale;
  auto const decoded = decode(candidates.codes.to(torch::kFloat), candidates.anchors);
  auto const boxes = torch::min(decoded.clamp(0), torch::cat({corner, corner}));
  auto const scores = candidates.scores.sigmoid().squeeze(1).to(torch::kFloat);
  auto const kept = suppress(boxes, scores, candidates.classes, 0.5).slice(0, 0, detections);

  auto const places = boxes.index({kept});
  for (std::int64_t axis = 0; axis < 2; ++axis)
    places.select(1, axis + 2).sub_(places.select(1, axis));
  places.mul_(image_scale);
  auto const classes = candidates.classes.index({kept, None}).add_(1);
  auto const found = torch::cat({places, scores.index({kept, None}), classes.to(torch::kFloat)}, 1);
  auto const missing = detections - found.size(0);
  return missing > 0 ? torch::cat({found, torch::zeros({missing, 6}, found.options())}) : found;
}

/// Pictures, the factors that scale them back to their first sizes, [batch], and these sizes,
/// [batch, 2].
struct Pictures {
  Tensor images, scales, sizes;
};

/// [batch, detections, 6]
Tensor detect(EfficientDetImpl::Outputs const& outputs,
              Tensor const& anchors,
              Pictures const& pictures,
              Sizes const& sizes) {
  auto const classes = sizes.network.classes;
  auto const flatten = [](Levels const& levels, std::int64_t width) {
    std::vector<Tensor> parts;
    for (auto const& level : levels)
      parts.push_back(level.permute({0, 2, 3, 1}).reshape({level.size(0), -1, width}));
    return torch::cat(parts, 1);
  };
  auto const scores = flatten(outputs.scores, classes);
  auto const codes = flatten(outputs.codes, 4);
  auto const best = std::get<1>(scores.reshape({scores.size(0), -1}).topk(sizes.candidates, 1));
  auto const place = torch::floor_divide(best, classes);
  auto const kind = best.remainder(classes);
  auto const wide = [&](std::int64_t width) {
    return place.unsqueeze(2).expand({-1, -1, width});
  };
  auto const best_codes = codes.gather(1, wide(4));
  auto const best_scores = scores.gather(1, wide(classes)).gather(2, kind.unsqueeze(2));
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < scores.size(0); ++i) {
    Candidates const candidates{best_scores[i], best_codes[i], anchors.index({place[i]}), kind[i]};
    all.push_back(choose(candidates, pictures.scales[i], pictures.sizes[i], sizes.detections));
  }
  return torch::stack(all);
}

Pictures make_pictures(Setup const& setup, Sizes const& sizes) {
  auto const scales = 0.8 + 0.4 * torch::rand({setup.batch});
  auto const first_sizes = torch::full({setup.batch, 2}, static_cast<double>(sizes.side));
  return {setup.place(torch::randn({setup.batch, 3, sizes.side, sizes.side})),
          scales.to(setup.device),
          (first_sizes * scales.unsqueeze(1)).to(setup.device)};
}

}  // namespace

std::unique_ptr<Workload> make_timm_efficientdet(Setup const& setup) {
  auto const sizes = make_sizes(setup);
  EfficientDet network(sizes.network);
  setup.place(*network);
  auto const pictures = make_pictures(setup, sizes);
  auto const anchors = make_anchors(sizes);

  Supervised parts;
  parts.network = network.ptr();
  if (setup.test == Test::eval) {
    parts.forward = [=, anchors = anchors.to(setup.device)]() mutable {
      return std::vector<Tensor>{detect(network(pictures.images), anchors, pictures, sizes)};
    };
    return make_supervised(setup.test, std::move(parts));
  }
  parts.forward = [network, pictures]() mutable {
    auto outputs = network(pictures.images);
    outputs.scores.insert(outputs.scores.end(), outputs.codes.begin(), outputs.codes.end());
    return std::move(outputs.scores);
  };
  parts.loss = [targets = make_targets(setup, sizes, anchors)](auto const& outputs) {
    return detection_loss(outputs, targets);
  };
  parts.optimizer = make_timm_optimizer(*network, {0.01, 4e-5, false});
  parts.gradient_norm = 10;
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::timm_efficientdet
