#pragma once

/// VGG: Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
/// Recognition", 2014 (arXiv 1409.1556). Layers are numbered as torchvision.models.vgg numbers its
/// `features`.

#include <cstddef>
#include <cstdint>
#include <limits>

#include <torch/torch.h>

namespace torchwatch::suite {

struct VggOptions {
  std::int64_t width = 64;  ///< channels of the first stage; the others have 2, 4, 8 and 8 times it
  bool batch_norm = false;
  std::size_t narrow_pools = 0;  ///< so many of the last poolings halve the height alone
  std::size_t layers = std::numeric_limits<std::size_t>::max();  ///< no more than so many
};

/// The thirteen convolutions of the 16 layer network: [batch, 3, height, width] -> [batch, 8 *
/// width, height / 32, width / 32].
torch::nn::Sequential make_vgg16_features(VggOptions const& options);

}  // namespace torchwatch::suite
