#pragma once

/// Parts of the networks that torchvision builds from plain convolutions: AlexNet, VGG, SqueezeNet.

#include <cstdint>

#include <torch/torch.h>

namespace torchwatch::suite {

/// Works in place.
torch::nn::ReLU make_relu();

/// A convolution of odd `kernel` that keeps the picture's size.
torch::nn::Conv2d make_plain_convolution(std::int64_t in, std::int64_t out, std::int64_t kernel);

/// Averages what `features` makes of images over `side` x `side` places, and gives all of it to
/// `classifier`: [batch, 3, height, width] -> [batch, classes]. Both are children of these names.
class FeatureClassifierImpl : public torch::nn::Module {
 public:
  FeatureClassifierImpl(torch::nn::Sequential const& features,
                        std::int64_t side,
                        torch::nn::Sequential const& classifier);

  torch::Tensor forward(torch::Tensor const& images);

 private:
  torch::nn::Sequential features_, classifier_;
  std::int64_t side_;
};

TORCH_MODULE(FeatureClassifier);

}  // namespace torchwatch::suite
