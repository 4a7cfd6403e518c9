#include "runner/suite/blocks/resnet.h"

#include <string>

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

struct Place {
  std::int64_t in, width, stride, dilation;  ///< width: of the stage
};

std::int64_t expansion(ResNetOptions const& options) {
  return options.bottleneck ? 4 : 1;
}

/// Convolutions with a shortcut around them, a 1 x 1 convolution where the shape changes.
class BlockImpl : public nn::Module {
 public:
  BlockImpl(ResNetOptions const& options, Place const& place) {
    auto const out = place.width * expansion(options);
    if (options.bottleneck) {
      auto const inner = place.width * options.width_per_group / 64 * options.groups;
      auto const first = options.stride_first ? place.stride : 1;
      ConvOptions middle{inner, inner, 3, place.stride / first, options.groups};
      middle.dilation = place.dilation;
      add(options, {place.in, inner, 1, first});
      add(options, middle);
      add(options, {inner, out, 1});
    } else {
      add(options, {place.in, out, 3, place.stride});
      add(options, {out, out, 3});
    }
    layers_.back().activation = nullptr;
    if (place.stride == 1 && place.in == out) return;
    shortcut_ = {Conv(ConvOptions{place.in, out, 1, place.stride}), options.norm(out), nullptr};
    register_module("downsample", nest(shortcut_));
  }

  Tensor forward(Tensor const& input) {
    Arithmetic floating_point;
    return compute(input, floating_point);
  }

  Tensor compute(Tensor const& input, Arithmetic& arithmetic) {
    auto x = input;
    for (auto& layer : layers_)
      x = arithmetic.convolve(layer, x);
    if (shortcut_.conv.is_empty()) return arithmetic.add_relu(x, input);
    return arithmetic.add_relu(x, arithmetic.convolve(shortcut_, input));
  }

 private:
  void add(ResNetOptions const& options, ConvOptions const& conv) {
    auto const number = std::to_string(layers_.size() + 1);
    layers_.push_back({Conv(conv), options.norm(conv.out)});
    register_module("conv" + number, layers_.back().conv);
    register_module("bn" + number, layers_.back().norm.ptr());
  }

  std::vector<ConvNorm> layers_;
  ConvNorm shortcut_;
};

TORCH_MODULE(Block);

nn::Sequential make_stage(ResNetOptions const& options,
                          std::size_t stage,
                          std::int64_t depth,
                          bool dilates) {
  nn::Sequential blocks;
  auto const width = options.width << stage;
  auto in = stage == 0 ? width : width / 2 * expansion(options);
  for (std::int64_t block = 0; block < depth; ++block) {
    bool const halves = stage > 0 && block == 0 && !dilates;
    blocks->push_back(Block(options, Place{in, width, halves ? 2 : 1, dilates ? 2 : 1}));
    in = width * expansion(options);
  }
  return blocks;
}

void initialise(nn::Module const& network) {
  for (auto const& module : network.modules(false)) {
    if (auto const* conv = module->as<nn::Conv2d>())
      nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
  }
}

void stop_learning(nn::Module const& network) {
  for (auto& parameter : network.parameters())
    parameter.set_requires_grad(false);
}

}  // namespace

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
  if (observes_) {
    mean_.copy_(x.mean({0, 2, 3}));
    variance_.copy_(x.var({0, 2, 3}, false));
  }
  auto const by_channel = [](Tensor const& each) {
    return each.reshape({1, -1, 1, 1});
  };
  auto const scale = by_channel(weight_) * (by_channel(variance_) + epsilon).rsqrt();
  return x * scale + (by_channel(bias_) - by_channel(mean_) * scale);
}

ResNetImpl::ResNetImpl(ResNetOptions const& options)
    : stem_{Conv(ConvOptions{3, options.width, 7, 2}), options.norm(options.width)} {
  register_module("conv1", stem_.conv);
  register_module("bn1", stem_.norm.ptr());
  for (std::size_t stage = 0; stage < options.depths.size(); ++stage) {
    bool const dilates = options.dilate_last && stage + 1 == options.depths.size();
    stages_.emplace_back(
        register_module("layer" + std::to_string(stage + 1),
                        make_stage(options, stage, options.depths[stage], dilates)));
  }
  if (options.classes > 0)
    fc_ = register_module("fc", nn::Linear(channels(options).back(), options.classes));
  initialise(*this);
}

std::vector<Tensor> ResNetImpl::features(Tensor const& images, Arithmetic& arithmetic) {
  auto x = arithmetic.max_pool(arithmetic.convolve(stem_, images));
  std::vector<Tensor> outputs;
  for (auto& stage : stages_) {
    for (auto& block : *stage)
      x = block.get<BlockImpl>().compute(x, arithmetic);
    outputs.push_back(x);
  }
  return outputs;
}

std::vector<Tensor> ResNetImpl::features(Tensor const& images) {
  Arithmetic floating_point;
  return features(images, floating_point);
}

Tensor ResNetImpl::compute(Tensor const& images, Arithmetic& arithmetic) {
  return arithmetic.connect(fc_, arithmetic.average(features(images, arithmetic).back()));
}

Tensor ResNetImpl::forward(Tensor const& images) {
  Arithmetic floating_point;
  return compute(images, floating_point);
}

void ResNetImpl::freeze(std::size_t stages) {
  stop_learning(*stem_.conv);
  stop_learning(*stem_.norm.ptr());
  for (std::size_t stage = 0; stage < stages; ++stage)
    stop_learning(*stages_[stage]);
}

std::vector<std::int64_t> ResNetImpl::channels(ResNetOptions const& options) {
  std::vector<std::int64_t> all;
  for (std::size_t stage = 0; stage < options.depths.size(); ++stage)
    all.push_back((options.width << stage) * expansion(options));
  return all;
}

nn::Sequential make_next_stage(ResNetOptions const& options, std::int64_t depth) {
  auto blocks = make_stage(options, options.depths.size(), depth, false);
  initialise(*blocks);
  return blocks;
}

}  // namespace torchwatch::suite
