#include "kernels.h"

#include <ATen/ops/gelu_cpu_dispatch.h>
#include <ATen/ops/relu_cpu_dispatch.h>
#include <ATen/ops/sigmoid_cpu_dispatch.h>
#include <ATen/ops/tanh_cpu_dispatch.h>

namespace lab {

namespace {

// Complex numbers have no order, so there is no larger one of zero and them.
void check_ordered(const Tensor& tensor, const char* name) {
  TORCH_CHECK(!tensor.is_complex(), name, " is not defined for complex numbers");
}

// The two ways to compute the error function that gelu knows.
bool is_gelu_approximation(c10::string_view name) {
  if (name == "none") return true;
  if (name == "tanh") return true;
  return false;
}

}  // namespace

// max(self, 0)
Tensor relu(const Tensor& self) {
  check_ordered(self, "relu");
  return at::cpu::relu(self);
}

// The logistic function:
// 1 / (1 + exp(-self))
Tensor sigmoid(const Tensor& self) {
  return at::cpu::sigmoid(self);
}

// The hyperbolic tangent.
Tensor tanh(const Tensor& self) {
  return at::cpu::tanh(self);
}

// self * phi(self), phi being the distribution function of the normal distribution
Tensor gelu(const Tensor& self, c10::string_view approximate) {
  check_ordered(self, "gelu");
  TORCH_CHECK(is_gelu_approximation(approximate), "gelu knows no approximation of this name");
  return at::cpu::gelu(self, approximate);
}

}  // namespace lab
