#include "runner/suite/blocks/resnet.h"

#include <string>

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

struct Place {
  std::int64_t in, width, stride, dilation;  ///< width: of the stage
};

nn::Conv2d convolution(std::int64_t in,
                       std::int64_t out,
                       std::int64_t kernel,
                       std::int64_t stride,
                       std::int64_t dilation = 1,
                       std::int64_t groups = 1) {
  auto options = nn::Conv2dOptions(in, out, kernel).stride(stride).bias(false);
  return nn::Conv2d(options.padding(dilation * (kernel / 2)).dilation(dilation).groups(groups));
}

std::int64_t expansion(ResNetOptions const& options) {
  return options.bottleneck ? 4 : 1;
}

/// Convolutions beside a shortcut, which is a 1 x 1 convolution where the shape changes.
class BlockImpl : public nn::Module {
 public:
  BlockImpl(ResNetOptions const& options, Place const& place) {
    auto const out = place.width * expansion(options);
    if (options.bottleneck) {
      auto const inner = place.width * options.width_per_group / 64 * options.groups;
      auto const first = options.stride_first ? place.stride : 1;
      add(options, convolution(place.in, inner, 1, first), inner);
      add(options,
          convolution(inner, inner, 3, place.stride / first, place.dilation, options.groups),
          inner);
      add(options, convolution(inner, out, 1, 1), out);
    } else {
      add(options, convolution(place.in, out, 3, place.stride), out);
      add(options, convolution(out, out, 3, 1), out);
    }
    if (place.stride == 1 && place.in == out) return;
    shortcut_ = register_module("downsample", nn::Sequential());
    shortcut_->push_back(convolution(place.in, out, 1, place.stride));
    shortcut_->push_back(options.norm(out));
  }

  Tensor forward(Tensor const& input) {
    auto x = input;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      x = layers_[i].norm.forward(layers_[i].conv(x));
      if (i + 1 < layers_.size()) x = x.relu_();
    }
    x += shortcut_.is_empty() ? input : shortcut_->forward(input);
    return x.relu_();
  }

 private:
  struct Layer {
    nn::Conv2d conv;
    nn::AnyModule norm;
  };

  void add(ResNetOptions const& options, nn::Conv2d conv, std::int64_t channels) {
    auto const number = std::to_string(layers_.size() + 1);
    auto norm = options.norm(channels);
    register_module("conv" + number, conv);
    register_module("bn" + number, norm.ptr());
    layers_.push_back({std::move(conv), std::move(norm)});
  }

  std::vector<Layer> layers_;
  nn::Sequential shortcut_{nullptr};
};

TORCH_MODULE(Block);

}  // namespace

nn::AnyModule batch_norm(std::int64_t channels) {
  return nn::AnyModule(nn::BatchNorm2d(channels));
}

nn::AnyModule frozen_batch_norm(std::int64_t channels) {
  return nn::AnyModule(FrozenBatchNorm(channels));
}

FrozenBatchNormImpl::FrozenBatchNormImpl(std::int64_t channels)
    : weight_(register_buffer("weight", torch::ones(channels))),
      bias_(register_buffer("bias", torch::zeros(channels))),
      mean_(register_buffer("running_mean", torch::zeros(channels))),
      variance_(register_buffer("running_var", torch::ones(channels))) {}

Tensor FrozenBatchNormImpl::forward(Tensor const& x) {
  constexpr double epsilon = 1e-5;
  auto const scale = (weight_ * (variance_ + epsilon).rsqrt()).view({1, -1, 1, 1});
  return x * scale + (bias_.view({1, -1, 1, 1}) - mean_.view({1, -1, 1, 1}) * scale);
}

ResNetImpl::ResNetImpl(ResNetOptions const& options)
    : conv1_(register_module("conv1", convolution(3, options.width, 7, 2))),
      bn1_(options.norm(options.width)) {
  register_module("bn1", bn1_.ptr());
  auto in = options.width;
  for (std::size_t stage = 0; stage < options.depths.size(); ++stage) {
    auto layers = register_module("layer" + std::to_string(stage + 1), nn::Sequential());
    bool const dilates = options.dilate_last && stage + 1 == options.depths.size();
    for (std::int64_t block = 0; block < options.depths[stage]; ++block) {
      Place const place{
          in, options.width << stage, stage > 0 && block == 0 && !dilates ? 2 : 1, dilates ? 2 : 1};
      layers->push_back(Block(options, place));
      in = place.width * expansion(options);
    }
    stages_.push_back(std::move(layers));
  }
  if (options.classes > 0) fc_ = register_module("fc", nn::Linear(in, options.classes));
  for (auto const& module : modules(false)) {
    if (auto const* conv = module->as<nn::Conv2d>())
      nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
  }
}

std::vector<Tensor> ResNetImpl::features(Tensor const& images) {
  auto x = torch::max_pool2d(bn1_.forward(conv1_(images)).relu_(), 3, 2, 1);
  std::vector<Tensor> outputs;
  for (auto& stage : stages_) {
    x = stage->forward(x);
    outputs.push_back(x);
  }
  return outputs;
}

Tensor ResNetImpl::forward(Tensor const& images) {
  return fc_(torch::adaptive_avg_pool2d(features(images).back(), {1, 1}).flatten(1));
}

std::vector<std::int64_t> ResNetImpl::channels(ResNetOptions const& options) {
  std::vector<std::int64_t> all;
  for (std::size_t stage = 0; stage < options.depths.size(); ++stage)
    all.push_back((options.width << stage) * expansion(options));
  return all;
}

}  // namespace torchwatch::suite
