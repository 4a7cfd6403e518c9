#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>

/// Conversions between tensors of the host and of the pretended device, which share their memory.
/// Sparse and nested tensors consist of other tensors, and of sizes on the host.
namespace torchwatch::pretend {

inline constexpr auto type = c10::DeviceType::XPU;
inline c10::Device const the_device{type, 0};
inline c10::DispatchKeySet const of_device{c10::DispatchKey::XPU};

/// Returns the device's allocator, which allocates host memory and labels it as the device's.
c10::Allocator& allocator();

bool is_on_device(at::Tensor const& tensor);

/// Returns the host's `tensor` as one of the device. Quantized tensors are returned unchanged.
at::Tensor to_device(at::Tensor const& tensor);

/// Returns the device's `tensor` as one of the host.
at::Tensor to_host(at::Tensor const& tensor);

/// Gives the device's `tensor` the sizes and values of the host's `value`.
void assign(at::Tensor const& tensor, at::Tensor const& value);

/// Gives the device's dense `tensor` these sizes, and enough memory for them.
void make_room(at::Tensor const& tensor, c10::IntArrayRef sizes);

}  // namespace torchwatch::pretend
