#include "kernels.h"

#include <ATen/ops/_embedding_bag_cpu_dispatch.h>
#include <ATen/ops/embedding_dense_backward_cpu_dispatch.h>

namespace lab {

namespace {

// The numbers are part of the operator's schema.
constexpr int64_t mode_sum = 0;
constexpr int64_t mode_mean = 1;
constexpr int64_t mode_max = 2;

bool is_bag_mode(int64_t mode) {
  return mode == mode_sum || mode == mode_mean || mode == mode_max;
}

void check_table(const Tensor& weight) {
  TORCH_CHECK(weight.dim() == 2, "weight must be a table of rows, but it has ", weight.dim(),
              " dimensions");
}

// Indices are read as 32 or 64 bit integers.
void check_index_type(const Tensor& indices) {
  const auto type = indices.scalar_type();
  TORCH_CHECK(type == at::kLong || type == at::kInt, "indices must be int or long, but they are ",
              type);
}

}  // namespace

// Looks rows of weight up and reduces those of a bag to one row.
std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
    int64_t mode, bool sparse, const OptionalTensor& per_sample_weights, bool include_last_offset,
    int64_t padding_idx) {
  check_table(weight);
  check_index_type(indices);
  TORCH_CHECK(is_bag_mode(mode), "no mode of embedding_bag has the number ", mode);
  return at::cpu::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
                                 per_sample_weights, include_last_offset, padding_idx);
}

// Adds the rows of grad_output up where they were looked up.
Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices,
                                int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq) {
  check_index_type(indices);
  TORCH_CHECK(num_weights > 0, "a table needs at least one row");
  return at::cpu::embedding_dense_backward(grad_output, indices, num_weights, padding_idx,
                                           scale_grad_by_freq);
}

}  // namespace lab
