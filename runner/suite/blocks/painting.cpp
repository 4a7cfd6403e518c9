#include "runner/suite/blocks/painting.h"

#include <string>

#include "runner/suite/apply_gradients.h"
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

/// Random places between real and fake, one for each pair.
Tensor interpolate(Tensor const& real, Tensor const& fake) {
  auto const batch = real.size(0);
  auto const alpha = torch::rand({batch, 1}).expand({batch, real.numel() / batch}).contiguous();
  auto const mix = alpha.view(real.sizes()).to(real.options());
  return (mix * real + torch::rsub(mix, 1) * fake).detach().requires_grad_();
}

/// The squared distance of each gradient's length from 1.
Tensor gradient_penalty(Discriminator& discriminator, Tensor const& pairs) {
  auto const scores = discriminator(pairs);
  auto const ones = torch::ones(scores.sizes(), scores.options());
  auto const gradient = torch::autograd::grad({scores}, {pairs}, {ones}, true, true)[0];
  auto const lengths = gradient.view({gradient.size(0), -1}).norm(2, 1);
  return (lengths - 1).pow(2).mean() * 10;
}

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
  convs_.emplace_back(
      register_module("conv" + std::to_string(convs_.size() + 1), nn::Conv2d(options)));
}

Tensor RendererImpl::forward(Tensor const& shapes) {
  auto x = linear_->forward(shapes).view({-1, 16, side_ / 8, side_ / 8});
  for (std::size_t i = 0; i < convs_.size(); i += 2)
    x = torch::pixel_shuffle(convs_[i + 1](torch::relu(convs_[i](x))), 2);
  return torch::rsub(torch::sigmoid(x).view({-1, side_, side_}), 1);
}

Tensor paint(Renderer& renderer, Tensor const& actions, Tensor const& canvases) {
  auto const side = canvases.size(-1);
  auto const each = actions.view({-1, stroke_width});
  auto const shapes = renderer(each.slice(1, 0, stroke_width - 3));
  auto const cover = torch::rsub(shapes, 1).view({-1, side, side, 1});
  auto const coloured = cover * each.slice(1, -3).view({-1, 1, 1, 3});
  auto const split = [&](Tensor const& x) {
    return x.permute({0, 3, 1, 2}).view({-1, strokes_per_action, x.size(3), side, side});
  };
  auto const covers = split(cover), paints = split(coloured);
  auto result = canvases;
  for (std::int64_t i = 0; i < strokes_per_action; ++i)
    result = result * torch::rsub(covers.select(1, i), 1) + paints.select(1, i);
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
  return linear_(torch::avg_pool2d(last, last.size(-1)).view({x.size(0), -1}));
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

void freeze(nn::Module& network) {
  for (auto& parameter : network.parameters())
    parameter.set_requires_grad(false);
}

Jury::Jury(Setup const& setup, std::int64_t width)
    : discriminator_(width),
      target_(width),
      optimizer_(discriminator_->parameters(),
                 torch::optim::AdamOptions(3e-4).betas({0.5, 0.999})) {
  setup.place(*discriminator_);
  setup.place(*target_);
  freeze(*target_);
  follow(target_->parameters(), discriminator_->parameters(), 1);
}

Tensor Jury::gain(Tensor const& images, Tensor const& before, Tensor const& after) {
  return target_(torch::cat({images, after}, 1)) - target_(torch::cat({images, before}, 1));
}

Tensor Jury::update(Tensor const& images, Tensor const& canvases) {
  constexpr double rate = 0.001;  // of the target
  auto const fake = torch::cat({images, canvases}, 1);
  auto const real = torch::cat({images, images}, 1);
  auto const real_scores = discriminator_(real);
  auto const fake_scores = discriminator_(fake);
  auto const penalty = gradient_penalty(discriminator_, interpolate(real, fake));
  optimizer_.zero_grad();
  auto const loss = fake_scores.mean() - real_scores.mean() + penalty;
  loss.backward();
  apply_gradients(optimizer_);
  follow(target_->parameters(), discriminator_->parameters(), rate);
  return loss.detach();
}

}  // namespace torchwatch::suite::painting
