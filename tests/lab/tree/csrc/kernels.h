#pragma once

// Every kernel of the extension. Each has the signature of its operator.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace lab {

using at::Scalar;
using at::Tensor;
using OptionalTensor = c10::optional<Tensor>;

// convolution.cpp
Tensor convolution(const Tensor& self, const Tensor& weight, const OptionalTensor& bias,
                   at::IntArrayRef padding, at::IntArrayRef stride, at::IntArrayRef dilation,
                   int64_t groups);

// linear.cpp
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha);
Tensor mm(const Tensor& self, const Tensor& mat2);
Tensor bmm(const Tensor& self, const Tensor& mat2);

// pointwise.cpp
Tensor relu(const Tensor& self);
Tensor sigmoid(const Tensor& self);
Tensor tanh(const Tensor& self);
Tensor gelu(const Tensor& self, c10::string_view approximate);

// embedding.cpp
std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
    int64_t mode, bool sparse, const OptionalTensor& per_sample_weights, bool include_last_offset,
    int64_t padding_idx);
Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices,
                                int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq);

// quantized.cpp
Tensor empty_affine_quantized(at::IntArrayRef size, c10::optional<at::ScalarType> dtype,
                              c10::optional<at::Layout> layout, c10::optional<at::Device> device,
                              c10::optional<bool> pin_memory, double scale, int64_t zero_point,
                              c10::optional<at::MemoryFormat> memory_format);

// normalization.cpp
std::tuple<Tensor, Tensor, Tensor> batch_norm(const Tensor& input, const OptionalTensor& weight,
                                              const OptionalTensor& bias,
                                              const OptionalTensor& running_mean,
                                              const OptionalTensor& running_var, bool training,
                                              double momentum, double eps);
std::tuple<Tensor, Tensor, Tensor> layer_norm(const Tensor& input,
                                              at::IntArrayRef normalized_shape,
                                              const OptionalTensor& weight,
                                              const OptionalTensor& bias, double eps);
Tensor softmax(const Tensor& self, int64_t dim, bool half_to_float);

}  // namespace lab
