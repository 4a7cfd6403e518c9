#pragma once

/// Feature pyramid: Lin et al., "Feature Pyramid Networks for Object Detection", 2016 (arXiv
/// 1612.03144). Names as in torchvision.ops.FeaturePyramidNetwork.

#include <cstdint>
#include <vector>

#include <torch/torch.h>

namespace torchwatch::suite {

/// The top of the pyramid: the coarsest level subsampled once, or convolved twice with stride two.
enum class PyramidTop { subsampled, convolved };

class PyramidImpl : public torch::nn::Module {
 public:
  /// `channels`: of each input; every output has `width`.
  PyramidImpl(std::vector<std::int64_t> const& channels, std::int64_t width, PyramidTop top);

  /// Finest first, both; the outputs of the top are the last.
  std::vector<torch::Tensor> forward(std::vector<torch::Tensor> const& features);

 private:
  PyramidTop top_;
  std::vector<torch::nn::Sequential> inner_, outer_;
  torch::nn::Conv2d p6_{nullptr}, p7_{nullptr};
};

TORCH_MODULE(Pyramid);

}  // namespace torchwatch::suite
