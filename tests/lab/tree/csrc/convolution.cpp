#include "kernels.h"

#include <ATen/ops/mkldnn_convolution_compositeexplicitautograd_dispatch.h>

namespace lab {

namespace {

// A batch, channels, and at least one dimension to slide along.
void check_image(const Tensor& input) {
  TORCH_CHECK(input.dim() >= 3, "a convolution needs a batch of images, but it was given ",
              input.sizes());
}

void check_channels(const Tensor& input, const Tensor& weight, int64_t groups) {
  TORCH_CHECK(groups > 0, "a convolution needs at least one group");

  TORCH_CHECK(input.size(1) == weight.size(1) * groups, "the filters are for ",
              weight.size(1) * groups, " channels, but the images have ", input.size(1));
}

}  // namespace

// Slides the filters in weight over every image of the batch, by way of oneDNN.
Tensor convolution(const Tensor& self, const Tensor& weight, const OptionalTensor& bias,
                   at::IntArrayRef padding, at::IntArrayRef stride, at::IntArrayRef dilation,
                   int64_t groups) {
  check_image(self);
  check_channels(self, weight, groups);
  return at::compositeexplicitautograd::mkldnn_convolution(self, weight, bias, padding, stride,
                                                           dilation, groups);
}

}  // namespace lab
