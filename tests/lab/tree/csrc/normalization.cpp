#include "kernels.h"

#include <ATen/ops/_softmax_cpu_dispatch.h>
#include <ATen/ops/native_batch_norm_cpu_dispatch.h>
#include <ATen/ops/native_layer_norm_cpu_dispatch.h>

namespace lab {

namespace {

// A variance of zero would be divided by.
void check_epsilon(double eps) {
  TORCH_CHECK(eps >= 0, "eps must not be negative, but it is ", eps);
}

// Wraps a dimension that counts from the end.
int64_t wrap_dimension(int64_t dim, int64_t dimensions) {
  if (dim < 0) return dim + dimensions;
  return dim;
}

}  // namespace

// Normalizes every channel by its own mean and variance.
std::tuple<Tensor, Tensor, Tensor> batch_norm(const Tensor& input, const OptionalTensor& weight,
                                              const OptionalTensor& bias,
                                              const OptionalTensor& running_mean,
                                              const OptionalTensor& running_var, bool training,
                                              double momentum, double eps) {
  TORCH_CHECK(input.dim() >= 2, "batch_norm needs a batch and a channel dimension");
  check_epsilon(eps);
  return at::cpu::native_batch_norm(input, weight, bias, running_mean, running_var, training,
                                    momentum, eps);
}

// Normalizes every sample over its last dimensions.
std::tuple<Tensor, Tensor, Tensor> layer_norm(const Tensor& input,
                                              at::IntArrayRef normalized_shape,
                                              const OptionalTensor& weight,
                                              const OptionalTensor& bias, double eps) {
  TORCH_CHECK(!normalized_shape.empty(), "layer_norm needs at least one dimension");
  check_epsilon(eps);
  return at::cpu::native_layer_norm(input, normalized_shape, weight, bias, eps);
}

// Shares that add up to one along a dimension:
// exponentials, divided by their sum.
Tensor softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  TORCH_CHECK(!half_to_float, "softmax: half_to_float is for GPUs");
  const auto wrapped = wrap_dimension(dim, self.dim());
  return at::cpu::_softmax(self, wrapped, half_to_float);
}

}  // namespace lab
