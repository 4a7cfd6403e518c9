#include "runner/suite/blocks/translation.h"

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

nn::AnyModule instance_norm(std::int64_t channels) {
  return nn::AnyModule(nn::InstanceNorm2d(channels));
}

namespace {

/// The operator of Python's ReflectionPad2d; LibTorch's passes by it.
class MirrorPadImpl : public nn::Module {
 public:
  explicit MirrorPadImpl(std::int64_t margin) : margin_(margin) {}

  Tensor forward(Tensor const& x) {
    return torch::pad(x, {margin_, margin_, margin_, margin_}, "reflect");
  }

 private:
  std::int64_t margin_;
};

TORCH_MODULE(MirrorPad);

}  // namespace

MirroredBlockImpl::MirroredBlockImpl(std::int64_t channels, NormFactory const& norm)
    : layers_(register_module("conv_block", nn::Sequential())) {
  layers_->push_back(MirrorPad(1));
  append_unit(layers_, nn::Conv2d(nn::Conv2dOptions(channels, channels, 3)), norm);
  layers_->push_back(MirrorPad(1));
  layers_->push_back(nn::Conv2d(nn::Conv2dOptions(channels, channels, 3)));
  layers_->push_back(norm(channels));
}

Tensor MirroredBlockImpl::forward(Tensor const& x) {
  return x + layers_->forward(x);
}

void append_mirrored(nn::Sequential& layers, std::int64_t in, std::int64_t out) {
  layers->push_back(MirrorPad(3));
  layers->push_back(nn::Conv2d(nn::Conv2dOptions(in, out, 7)));
}

void append_encoder(nn::Sequential& layers,
                    std::int64_t in,
                    std::int64_t width,
                    std::int64_t halvings,
                    NormFactory const& norm) {
  layers->push_back(MirrorPad(3));
  append_unit(layers, nn::Conv2d(nn::Conv2dOptions(in, width, 7)), norm);
  for (std::int64_t i = 0; i < halvings; ++i)
    append_unit(layers, make_halving(width << i), norm);
}

nn::Conv2d make_halving(std::int64_t in) {
  return nn::Conv2d(nn::Conv2dOptions(in, 2 * in, 3).stride(2).padding(1));
}

nn::Sequential make_patch_discriminator(std::int64_t width, std::int64_t padding) {
  auto const convolution = [padding](std::int64_t in, std::int64_t out, std::int64_t stride) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 4).stride(stride).padding(padding));
  };
  auto const leaky = nn::LeakyReLUOptions().negative_slope(0.2).inplace(true);
  nn::Sequential layers(convolution(3, width, 2), nn::LeakyReLU(leaky));
  for (std::int64_t in = width; in < 8 * width; in *= 2) {
    layers->push_back(convolution(in, 2 * in, in < 4 * width ? 2 : 1));
    layers->push_back(instance_norm(2 * in));
    layers->push_back(nn::LeakyReLU(leaky));
  }
  layers->push_back(convolution(8 * width, 1, 1));
  return layers;
}

}  // namespace torchwatch::suite
