#include "runner/suite/blocks/painting.h"

#include <string>

#include "runner/suite/layers.h"

namespace torchwatch::suite::painting {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

/// A rectifier whose corner is where training puts it (translated ReLU).
class TreluImpl : public nn::Module {
 public:
  TreluImpl() : alpha_(register_parameter("alpha", torch::zeros({1}))) {}

  Tensor forward(Tensor const& x) { return torch::relu(x - alpha_) + alpha_; }

 private:
  Tensor alpha_;
};

TORCH_MODULE(Trelu);

/// Length and direction of each filter are parameters of their own.
class WeightNormConvImpl : public nn::Module {
 public:
  WeightNormConvImpl(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride)
      : stride_(stride),
        padding_(kernel / 2) {
    nn::Conv2d const initial(nn::Conv2dOptions(in, out, kernel));
    direction_ = register_parameter("weight_v", initial->weight.detach());
    length_ = register_parameter("weight_g", torch::norm_except_dim(direction_.detach(), 2, 0));
    bias_ = register_parameter("bias", initial->bias.detach());
  }

  Tensor forward(Tensor const& x) {
    auto const weight = torch::_weight_norm(direction_, length_, 0);
    return torch::conv2d(x, weight, bias_, stride_, padding_);
  }

 private:
  std::int64_t stride_, padding_;
  Tensor direction_, length_, bias_;
};

TORCH_MODULE(WeightNormConv);

class BatchNormConvImpl : public nn::Module {
 public:
  BatchNormConvImpl(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride)
      : conv_(register_module("conv",
                              nn::Conv2d(nn::Conv2dOptions(in, out, kernel)
                                             .stride(stride)
                                             .padding(kernel / 2)
                                             .bias(false)))),
        norm_(register_module("norm", nn::BatchNorm2d(out))) {}

  Tensor forward(Tensor const& x) { return norm_(conv_(x)); }

 private:
  nn::Conv2d conv_;
  nn::BatchNorm2d norm_;
};

TORCH_MODULE(BatchNormConv);

nn::AnyModule convolution(
    Norm norm, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
  if (norm == Norm::batch) return nn::AnyModule(BatchNormConv(in, out, kernel, stride));
  return nn::AnyModule(WeightNormConv(in, out, kernel, stride));
}

nn::AnyModule activation(Norm norm) {
  if (norm == Norm::batch) return nn::AnyModule(nn::ReLU());
  return nn::AnyModule(Trelu());
}

class BlockImpl : public nn::Module {
 public:
  BlockImpl(Norm norm, std::int64_t in, std::int64_t out, std::int64_t stride)
      : first_(convolution(norm, in, out, 3, stride)),
        second_(convolution(norm, out, out, 3, 1)),
        inner_(activation(norm)),
        outer_(activation(norm)) {
    register_module("conv1", first_.ptr());
    register_module("conv2", second_.ptr());
    register_module("relu_1", inner_.ptr());
    register_module("relu_2", outer_.ptr());
    if (stride == 1 && in == out) return;
    shortcut_ = convolution(norm, in, out, 1, stride);
    register_module("shortcut", shortcut_.ptr());
  }

  Tensor forward(Tensor const& x) {
    Tensor const inner = inner_.forward(first_.forward(x));
    Tensor sum = second_.forward(inner);
    sum += shortcut_.is_empty() ? x : shortcut_.forward<Tensor>(x);
    return outer_.forward(sum);
  }

 private:
  nn::AnyModule first_, second_, inner_, outer_, shortcut_;
};

TORCH_MODULE(Block);

}  // namespace

RendererImpl::RendererImpl(std::int64_t side, std::int64_t width)
    : side_(side),
      linear_(register_module(
          "linear",
          make_mlp({stroke_width - 3, width, 2 * width, 4 * width, 16 * (side / 8) * (side / 8)},
                   &torch::relu,
                   &torch::relu))) {
  for (std::int64_t const in : {16, 8, 4}) {
    add(in, 2 * in);
    add(2 * in, in == 4 ? 4 : 2 * in);  // of which four become one
  }
}

void RendererImpl::add(std::int64_t in, std::int64_t out) {
  auto const options = nn::Conv2dOptions(in, out, 3).padding(1);
  convs_.push_back(
      register_module("conv" + std::to_string(convs_.size() + 1), nn::Conv2d(options)));
}

Tensor RendererImpl::forward(Tensor const& shapes) {
  auto x = linear_->forward(shapes).view({-1, 16, side_ / 8, side_ / 8});
  for (std::size_t i = 0; i < convs_.size(); i += 2)
    x = torch::pixel_shuffle(convs_[i + 1](torch::relu(convs_[i](x))), 2);
  return 1 - torch::sigmoid(x).view({-1, side_, side_});
}

Tensor paint(Renderer& renderer, Tensor const& actions, Tensor const& canvases) {
  auto const side = canvases.size(-1);
  auto const each = actions.view({-1, stroke_width});
  auto const cover = (1 - renderer(each.slice(1, 0, stroke_width - 3))).unsqueeze(1);
  auto const colour = each.slice(1, stroke_width - 3).view({-1, 3, 1, 1});
  auto const paints = (cover * colour).view({-1, strokes_per_action, 3, side, side});
  auto const covers = cover.view({-1, strokes_per_action, 1, side, side});
  auto result = canvases;
  for (std::int64_t i = 0; i < strokes_per_action; ++i)
    result = result * (1 - covers.select(1, i)) + paints.select(1, i);
  return result;
}

BackboneImpl::BackboneImpl(Norm norm, std::int64_t in, std::int64_t width, std::int64_t outputs)
    : conv_(convolution(norm, in, width, 3, 2)),
      activation_(activation(norm)),
      linear_(register_module("fc", nn::Linear(8 * width, outputs))) {
  register_module("conv1", conv_.ptr());
  register_module("relu_1", activation_.ptr());
  auto channels = width;
  for (std::int64_t const factor : {1, 2, 4, 8}) {
    blocks_->push_back(Block(norm, channels, factor * width, 2));
    channels = factor * width;
    blocks_->push_back(Block(norm, channels, channels, 1));
  }
  register_module("blocks", blocks_);
}

Tensor BackboneImpl::forward(Tensor const& pictures) {
  Tensor const x = activation_.forward(conv_.forward(pictures));
  auto const last = blocks_->forward(x);
  return linear_(torch::avg_pool2d(last, last.size(-1)).flatten(1));
}

DiscriminatorImpl::DiscriminatorImpl(std::int64_t width) {
  std::int64_t in = 6;
  for (std::int64_t const factor : {1, 2, 4, 8}) {
    add(in, factor * width);
    activations_.push_back(activation(Norm::weight));
    register_module("relu" + std::to_string(activations_.size() - 1), activations_.back().ptr());
    in = factor * width;
  }
  add(in, 1);
}

void DiscriminatorImpl::add(std::int64_t in, std::int64_t out) {
  convs_.push_back(convolution(Norm::weight, in, out, 5, 2));
  register_module("conv" + std::to_string(convs_.size() - 1), convs_.back().ptr());
}

Tensor DiscriminatorImpl::forward(Tensor const& pairs) {
  auto x = pairs;
  for (std::size_t i = 0; i < convs_.size(); ++i) {
    x = convs_[i].forward(x);
    if (i < activations_.size()) x = activations_[i].forward(x);
  }
  return torch::avg_pool2d(x, x.size(-1)).view({-1, 1});
}

}  // namespace torchwatch::suite::painting
