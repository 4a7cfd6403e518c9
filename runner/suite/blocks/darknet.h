#pragma once

/// Darknet's parts: Redmon and Farhadi, "YOLOv3: An Incremental Improvement", 2018 (arXiv
/// 1804.02767), as ultralytics/yolov3 of 2020 has them.

#include <cstdint>

#include <torch/torch.h>

namespace torchwatch::suite {

/// A normalised convolution.
class DarknetUnitImpl : public torch::nn::Module {
 public:
  DarknetUnitImpl(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride = 1);

  torch::Tensor forward(torch::Tensor const& x);

 private:
  torch::nn::Conv2d conv_;
  torch::nn::BatchNorm2d norm_;
};

TORCH_MODULE(DarknetUnit);

/// Appends `count` units, in turns to `narrow` channels by 1 x 1 and to twice that by 3 x 3.
void append_darknet_units(torch::nn::Sequential& layers,
                          std::int64_t in,
                          std::int64_t narrow,
                          std::int64_t count);

/// Two units with a shortcut around them.
class DarknetResidualImpl : public torch::nn::Module {
 public:
  explicit DarknetResidualImpl(std::int64_t channels);

  torch::Tensor forward(torch::Tensor const& x);

 private:
  torch::nn::Sequential units_;
};

TORCH_MODULE(DarknetResidual);

/// The input's largest values in windows of three sizes, and the input.
class PyramidPoolingImpl : public torch::nn::Module {
 public:
  torch::Tensor forward(torch::Tensor const& x);
};

TORCH_MODULE(PyramidPooling);

}  // namespace torchwatch::suite
