#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>

/// The same memory, seen from either side: as the host's tensors and as those of the pretended
/// device. Sparse and nested tensors consist of others, and of their sizes, which are the host's.
namespace torchwatch::pretend {

inline constexpr auto type = c10::DeviceType::XPU;
inline c10::Device const the_device{type, 0};
inline c10::DispatchKeySet const of_device{c10::DispatchKey::XPU};

/// The device's: it takes the host's memory and calls it its own.
c10::Allocator& allocator();

bool is_on_device(at::Tensor const& tensor);

/// What the host computed, as the device's. Quantized tensors stay where they are.
at::Tensor to_device(at::Tensor const& tensor);

/// What is the device's, for the host to compute with.
at::Tensor to_host(at::Tensor const& tensor);

/// Has the device's `tensor` be what the host's `value` is.
void assign(at::Tensor const& tensor, at::Tensor const& value);

/// Has the device's dense `tensor` have these sizes, and as much memory.
void make_room(at::Tensor const& tensor, c10::IntArrayRef sizes);

}  // namespace torchwatch::pretend
