#pragma once

/// Parts that image-to-image networks share: Isola et al., "Image-to-Image Translation with
/// Conditional Adversarial Networks", 2016 (arXiv 1611.07004), and Zhu et al., 2017 (arXiv
/// 1703.10593). Layers are named as junyanz/pytorch-CycleGAN-and-pix2pix names them.

#include <cstdint>
#include <utility>

#include <torch/torch.h>

#include "runner/suite/blocks/resnet.h"

namespace torchwatch::suite {

/// Each channel of each image by itself, without anything to train.
torch::nn::AnyModule instance_norm(std::int64_t channels);

/// Two 3 x 3 convolutions, normalised, with mirrored borders and a shortcut around them.
class MirroredBlockImpl : public torch::nn::Module {
 public:
  MirroredBlockImpl(std::int64_t channels, NormFactory const& norm);

  torch::Tensor forward(torch::Tensor const& x);

 private:
  torch::nn::Sequential layers_;
};

TORCH_MODULE(MirroredBlock);

/// Appends a convolution of any kind, its normalisation and a ReLU.
template <class Convolution>
void append_unit(torch::nn::Sequential& layers, Convolution const& conv, NormFactory const& norm) {
  layers->push_back(conv);
  layers->push_back(norm(conv->options.out_channels()));
  layers->push_back(torch::nn::ReLU(torch::nn::ReLUOptions(true)));
}

/// Appends a 7 x 7 convolution with mirrored borders, by itself.
void append_mirrored(torch::nn::Sequential& layers, std::int64_t in, std::int64_t out);

/// Appends units: a mirrored 7 x 7 convolution to `width` channels, then `halvings` convolutions
/// that halve the picture and double the channels.
void append_encoder(torch::nn::Sequential& layers,
                    std::int64_t in,
                    std::int64_t width,
                    std::int64_t halvings,
                    NormFactory const& norm);

/// A 3 x 3 convolution that halves the picture and doubles the channels.
torch::nn::Conv2d make_halving(std::int64_t in);

/// Judges patches of an image: [batch, 3, height, width] -> [batch, 1, about height / 8, about
/// width / 8].
torch::nn::Sequential make_patch_discriminator(std::int64_t width, std::int64_t padding);

}  // namespace torchwatch::suite
