#include "runner/suite/blocks/efficientnet.h"

#include <cmath>
#include <string>

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

/// The options that all blocks of a network share.
struct Common {
  bool same = false;
  NormOptions norm;
};

struct MixedOptions {
  std::int64_t in, out;
  std::vector<std::int64_t> kernels;
  std::int64_t stride;
  bool depthwise;
};

/// `channels` in so many parts; the first takes what is left over.
std::vector<std::int64_t> shares(std::int64_t channels, std::size_t parts) {
  auto const count = static_cast<std::int64_t>(parts);
  std::vector<std::int64_t> all(parts, channels / count);
  all[0] += channels % count;
  return all;
}

/// A convolution for each share of the channels, one normalisation and perhaps an activation.
class MixedConvNormImpl : public nn::Module {
 public:
  MixedConvNormImpl(MixedOptions const& options, Activation* activation, Common const& common)
      : in_(shares(options.in, options.kernels.size())),
        bn_(register_module("bn", make_batch_norm(options.out, common.norm))),
        activation_(activation) {
    auto const out = shares(options.out, options.kernels.size());
    for (std::size_t i = 0; i < options.kernels.size(); ++i) {
      ConvOptions conv{in_[i], out[i], options.kernels[i], options.stride};
      conv.groups = options.depthwise ? in_[i] : 1;
      conv.same = common.same;
      convs_.emplace_back(register_module("conv" + std::to_string(i), Conv(conv)));
    }
  }

  Tensor forward(Tensor const& x) {
    auto const y = bn_(convolve(x));
    return activation_ == nullptr ? y : activation_(y);
  }

 private:
  Tensor convolve(Tensor const& x) {
    if (convs_.size() == 1) return convs_[0](x);
    auto parts = torch::split_with_sizes(x, in_, 1);
    for (std::size_t i = 0; i < parts.size(); ++i)
      parts[i] = convs_[i](parts[i]);
    return torch::cat(parts, 1);
  }

  std::vector<std::int64_t> in_;
  std::vector<Conv> convs_;
  nn::BatchNorm2d bn_;
  Activation* activation_;
};

TORCH_MODULE(MixedConvNorm);

class InvertedResidualImpl : public nn::Module {
 public:
  InvertedResidualImpl(std::int64_t in,
                       std::int64_t stride,
                       InvertedOptions const& options,
                       Common const& common,
                       double drop)
      : adds_(stride == 1 && in == options.out),
        drop_(drop) {
    auto const inner = in * options.expansion;
    auto const points = [](std::int64_t parts) {
      return std::vector<std::int64_t>(static_cast<std::size_t>(parts), 1);
    };
    if (options.expansion > 1) {
      MixedOptions const expand{in, inner, points(options.expand_shares), 1, false};
      expand_ = register_module("expand", MixedConvNorm(expand, options.activation, common));
    }
    MixedOptions const depthwise{inner, inner, options.kernels, stride, true};
    depthwise_ = register_module("depthwise", MixedConvNorm(depthwise, options.activation, common));
    if (options.squeezed > 0) {
      auto const hidden = std::lround(static_cast<double>(in) * options.squeezed);
      squeeze_ =
          register_module("squeeze_excite", SqueezeExcite(inner, hidden, options.activation));
    }
    MixedOptions const project{inner, options.out, points(options.project_shares), 1, false};
    project_ = register_module("project", MixedConvNorm(project, nullptr, common));
  }

  Tensor forward(Tensor const& input) {
    auto x = depthwise_(expand_.is_empty() ? input : expand_(input));
    if (!squeeze_.is_empty()) x = squeeze_(x);
    x = project_(x);
    return adds_ ? drop_path(x, drop_, is_training()) + input : x;
  }

 private:
  bool adds_;
  double drop_;
  MixedConvNorm expand_{nullptr}, depthwise_{nullptr}, project_{nullptr};
  SqueezeExcite squeeze_{nullptr};
};

TORCH_MODULE(InvertedResidual);

std::int64_t blocks_of(EfficientNetOptions const& options) {
  std::int64_t blocks = 0;
  for (auto const& stage : options.stages) {
    for (auto const& group : stage)
      blocks += group.repeats;
  }
  return blocks;
}

ConvUnit make_stem(EfficientNetOptions const& options) {
  ConvOptions conv{3, options.stem, 3, 2};
  conv.same = options.same;
  return ConvUnit(conv, options.activation, options.norm);
}

}  // namespace

EfficientNetImpl::EfficientNetImpl(EfficientNetOptions const& options)
    : stem_(register_module("stem", make_stem(options))) {
  Common const common{options.same, options.norm};
  auto const rise = options.drop_path / static_cast<double>(blocks_of(options));
  double drop = 0;
  auto in = options.stem;
  for (auto const& stage : options.stages) {
    auto const name = "stage" + std::to_string(stages_.size());
    stages_.emplace_back(register_module(name, nn::Sequential()));
    for (auto const& group : stage) {
      for (std::int64_t block = 0; block < group.repeats; ++block) {
        auto const stride = block == 0 ? group.stride : 1;
        stages_.back()->push_back(InvertedResidual(in, stride, group, common, drop));
        in = group.out;
        drop += rise;
      }
    }
  }
  if (options.classes > 0) {
    ConvOptions const head{in, options.head};
    head_ = register_module("head", ConvUnit(head, options.activation, options.norm));
    classifier_ = register_module("classifier", nn::Linear(options.head, options.classes));
  }
  initialise_convolutions(*this);
}

std::vector<Tensor> EfficientNetImpl::features(Tensor const& images) {
  auto x = stem_(images);
  std::vector<Tensor> outputs;
  for (auto& stage : stages_) {
    x = stage->forward(x);
    outputs.push_back(x);
  }
  return outputs;
}

Tensor EfficientNetImpl::forward(Tensor const& images) {
  return classifier_(global_average(head_(features(images).back())));
}

}  // namespace torchwatch::suite
