// A library, preloaded into the worker, whose sigmoid leaks a kibibyte per call.

#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/sigmoid_cpu_dispatch.h>
#include <torch/library.h>

namespace {

at::Tensor sigmoid(at::Tensor const& input) {
  static auto& kept = *new std::vector<at::Tensor>;
  kept.push_back(at::empty({1024}, at::kByte));
  return at::cpu::sigmoid(input);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, CPU, library) {
  library.impl("sigmoid", &sigmoid);
}
