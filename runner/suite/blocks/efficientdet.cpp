#include "runner/suite/blocks/efficientdet.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr NormOptions norm_options{1e-3, 0.01};
/// Stages of the backbone at an eighth, a sixteenth and a thirty-second of the picture's side.
constexpr std::size_t backbone_stages[] = {2, 4, 6};

/// Each channel by itself, then all channels at each place.
class SeparableConvImpl : public nn::Module {
 public:
  SeparableConvImpl(std::int64_t in, std::int64_t out, double bias = 0)
      : depthwise_(register_module("depthwise", Conv(ConvOptions{in, in, 3, 1, in}))),
        pointwise_(register_module("pointwise", Conv(ConvOptions{in, out, 1, 1, 1, true}))) {
    for (auto const& conv : {depthwise_, pointwise_})
      nn::init::normal_(
          conv->weight, 0, std::sqrt(1 / static_cast<double>(conv->weight[0].numel())));
    nn::init::constant_(pointwise_->bias, bias);
  }

  Tensor forward(Tensor const& x) { return pointwise_(depthwise_(x)); }

 private:
  Conv depthwise_, pointwise_;
};

TORCH_MODULE(SeparableConv);

/// Brings a level to another's channels and size: one level coarser by the maximum, one level finer
/// by repetition, or neither.
class ResampleImpl : public nn::Module {
 public:
  ResampleImpl(std::int64_t in, std::int64_t out, std::int64_t coarser) : coarser_(coarser) {
    if (in == out) return;
    conv_ = register_module("conv",
                            ConvUnit(ConvOptions{in, out, 1, 1, 1, true}, nullptr, norm_options));
  }

  Tensor forward(Tensor const& input) {
    constexpr double lowest = -std::numeric_limits<double>::infinity();
    auto x = conv_.is_empty() ? input : conv_(input);
    if (coarser_ > 0) return torch::max_pool2d(pad_same(x, 3, 2, lowest), 3, 2);
    if (coarser_ < 0) return torch::upsample_nearest2d(x, c10::nullopt, std::vector<double>{2, 2});
    return x;
  }

 private:
  std::int64_t coarser_;
  ConvUnit conv_{nullptr};
};

TORCH_MODULE(Resample);

struct Feature {
  std::int64_t level, channels;
};

/// A weighted mean of features, the weights learned, and a convolution.
class NodeImpl : public nn::Module {
 public:
  /// `inputs`: places in `features`.
  NodeImpl(std::vector<Feature> const& features,
           std::vector<std::size_t> inputs,
           std::int64_t level,
           std::int64_t width)
      : inputs_(std::move(inputs)),
        weights_(
            register_parameter("weights", torch::ones(static_cast<std::int64_t>(inputs_.size())))),
        conv_(register_module("conv", SeparableConv(width, width))),
        norm_(register_module("norm", make_batch_norm(width, norm_options))) {
    for (auto const input : inputs_) {
      auto const& feature = features[input];
      resample_.emplace_back(
          register_module("resample" + std::to_string(resample_.size()),
                          Resample(feature.channels, width, level - feature.level)));
    }
  }

  Tensor forward(Levels const& features) {
    auto const weights = weights_.relu();
    auto const sum = weights.sum() + 1e-4;
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      auto const weight = weights[static_cast<std::int64_t>(i)];
      parts.push_back(resample_[i](features[inputs_[i]]) * weight / sum);
    }
    return norm_(conv_(silu_in_place(torch::stack(parts, -1).sum(-1))));
  }

 private:
  std::vector<std::size_t> inputs_;
  Tensor weights_;
  std::vector<Resample> resample_;
  SeparableConv conv_;
  nn::BatchNorm2d norm_;
};

TORCH_MODULE(Node);

/// Nodes from the coarsest level to the finest and back; those on the way back also see what came
/// in.
class CellImpl : public nn::Module {
 public:
  CellImpl(std::vector<std::int64_t> const& channels, std::int64_t width)
      : width_(width),
        seen_(channels.size()) {
    auto const levels = channels.size();
    for (std::size_t level = 0; level < levels; ++level)
      keep(level, channels[level]);
    for (std::size_t level = levels - 1; level-- > 0;)
      add(level, {seen_[level].back(), seen_[level + 1].back()});
    for (std::size_t level = 1; level < levels; ++level) {
      auto inputs = seen_[level];
      inputs.push_back(seen_[level - 1].back());
      add(level, std::move(inputs));
    }
  }

  Levels forward(Levels features) {
    for (auto& node : nodes_)
      features.push_back(node(features));
    return Levels(features.end() - static_cast<std::ptrdiff_t>(seen_.size()), features.end());
  }

 private:
  void keep(std::size_t level, std::int64_t channels) {
    seen_[level].push_back(features_.size());
    features_.push_back({static_cast<std::int64_t>(level), channels});
  }

  void add(std::size_t level, std::vector<std::size_t> inputs) {
    nodes_.emplace_back(register_module(
        "node" + std::to_string(nodes_.size()),
        Node(features_, std::move(inputs), static_cast<std::int64_t>(level), width_)));
    keep(level, width_);
  }

  std::int64_t width_;
  std::vector<Feature> features_;
  std::vector<std::vector<std::size_t>> seen_;  ///< features of each level
  std::vector<Node> nodes_;
};

TORCH_MODULE(Cell);

/// Channels of the stages that leave the backbone.
std::vector<std::int64_t> channels_of(EfficientNetOptions const& backbone) {
  std::vector<std::int64_t> channels;
  for (auto const stage : backbone_stages)
    channels.push_back(backbone.stages[stage].back().out);
  return channels;
}

EfficientNet make_backbone(EfficientNetOptions options) {
  options.classes = 0;
  return EfficientNet(options);
}

}  // namespace

FeaturePyramidImpl::FeaturePyramidImpl(std::vector<std::int64_t> channels,
                                       EfficientDetOptions const& options) {
  while (static_cast<std::int64_t>(channels.size()) < options.levels) {
    coarser_.emplace_back(Resample(channels.back(), options.width, 1));
    register_module("coarser" + std::to_string(coarser_.size() - 1), coarser_.back().ptr());
    channels.push_back(options.width);
  }
  for (std::int64_t cell = 0; cell < options.cells; ++cell) {
    cells_.emplace_back(Cell(channels, options.width));
    register_module("cell" + std::to_string(cell), cells_.back().ptr());
    channels.assign(channels.size(), options.width);
  }
}

Levels FeaturePyramidImpl::forward(Levels levels) {
  for (auto& coarser : coarser_)
    levels.push_back(coarser.forward(levels.back()));
  for (auto& cell : cells_)
    levels = cell.forward<Levels>(std::move(levels));
  return levels;
}

DetectionHeadImpl::DetectionHeadImpl(std::int64_t out,
                                     double bias,
                                     EfficientDetOptions const& options)
    : predict_(SeparableConv(options.width, out, bias)) {
  register_module("predict", predict_.ptr());
  for (std::int64_t layer = 0; layer < options.head_layers; ++layer) {
    auto const number = std::to_string(layer);
    layers_.emplace_back(SeparableConv(options.width, options.width));
    register_module("layer" + number, layers_.back().ptr());
    auto& norms = norms_.emplace_back();
    for (std::int64_t level = 0; level < options.levels; ++level) {
      auto const name = "norm" + number + "_" + std::to_string(level);
      norms.emplace_back(register_module(name, make_batch_norm(options.width, norm_options)));
    }
  }
}

Levels DetectionHeadImpl::forward(Levels const& levels) {
  Levels outputs;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    auto x = levels[level];
    for (std::size_t layer = 0; layer < layers_.size(); ++layer)
      x = silu_in_place(norms_[layer][level](layers_[layer].forward(x)));
    outputs.push_back(predict_.forward(x));
  }
  return outputs;
}

EfficientDetImpl::EfficientDetImpl(EfficientDetOptions const& options)
    : backbone_(register_module("backbone", make_backbone(options.backbone))),
      pyramid_(register_module("pyramid", FeaturePyramid(channels_of(options.backbone), options))) {
  auto const rare = -std::log((1 - 0.01) / 0.01);  // objects, at first
  class_head_ = register_module("class_head",
                                DetectionHead(options.anchors * options.classes, rare, options));
  box_head_ = register_module("box_head", DetectionHead(options.anchors * 4, 0.0, options));
}

EfficientDetImpl::Outputs EfficientDetImpl::forward(Tensor const& images) {
  auto const features = backbone_->features(images);
  Levels levels;
  for (auto const stage : backbone_stages)
    levels.push_back(features[stage]);
  levels = pyramid_(std::move(levels));
  return {class_head_(levels), box_head_(levels)};
}

}  // namespace torchwatch::suite
