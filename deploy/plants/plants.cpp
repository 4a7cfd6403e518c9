// A library that workers preload. It makes a build worse in three ways that torchwatch must find:
// addmm starts its kernels twice, tanh takes 32 MiB while it runs, and sigmoid leaks 64 KiB in
// every call. PLANTS_DEVICE (cuda or cpu) names the namespace of the kernels, PLANTS_KEY (CUDA or
// CPU) their dispatch key.

#include <vector>

#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/addmm_cuda_dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sigmoid_cpu_dispatch.h>
#include <ATen/ops/sigmoid_cuda_dispatch.h>
#include <ATen/ops/tanh_cpu_dispatch.h>
#include <ATen/ops/tanh_cuda_dispatch.h>
#include <torch/library.h>

namespace kernels = at::PLANTS_DEVICE;

namespace {

constexpr std::int64_t growth = std::int64_t{32} << 20;
constexpr std::int64_t leak = std::int64_t{64} << 10;

at::Tensor bytes_like(at::Tensor const& tensor, std::int64_t count) {
  return at::empty({count}, tensor.options().dtype(at::kByte));
}

at::Tensor addmm_twice(at::Tensor const& added,
                       at::Tensor const& left,
                       at::Tensor const& right,
                       at::Scalar const& beta,
                       at::Scalar const& alpha) {
  kernels::addmm(added, left, right, beta, alpha);
  return kernels::addmm(added, left, right, beta, alpha);
}

at::Tensor growing_tanh(at::Tensor const& input) {
  auto const unneeded = bytes_like(input, growth);
  return kernels::tanh(input);
}

at::Tensor leaking_sigmoid(at::Tensor const& input) {
  static auto& kept = *new std::vector<at::Tensor>;
  kept.push_back(bytes_like(input, leak));
  return kernels::sigmoid(input);
}

}  // namespace

#define PLANTS_IN(key)                         \
  TORCH_LIBRARY_IMPL(aten, key, library) {     \
    library.impl("addmm", &addmm_twice);       \
    library.impl("tanh", &growing_tanh);       \
    library.impl("sigmoid", &leaking_sigmoid); \
  }
PLANTS_IN(PLANTS_KEY)
