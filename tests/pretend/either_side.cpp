#include "either_side.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseTensorUtils.h>
#include <c10/core/CPUAllocator.h>
#include <torch/torch.h>

namespace torchwatch::pretend {
namespace {

using at::Tensor;
using at::native::NestedTensorImpl;

/// Returns memory at `data` that keeps `owner` alive.
template <class Owner>
c10::DataPtr memory_of(void* data, Owner owner, c10::Device where) {
  auto kept = std::make_unique<Owner>(std::move(owner));
  auto* const release = +[](void* context) {
    std::unique_ptr<Owner> const last{static_cast<Owner*>(context)};
  };
  return {data, kept.release(), release, where};
}

struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) const override {
    auto of_host = c10::GetCPUAllocator()->allocate(bytes);
    auto* const data = of_host.get();
    return memory_of(data, std::move(of_host), the_device);
  }
};

/// Returns a tensor with the sizes of `tensor` on `memory`.
Tensor over(c10::DataPtr memory,
            Tensor const& tensor,
            c10::Allocator* allocates,
            c10::DispatchKeySet keys) {
  c10::Storage storage(c10::Storage::use_byte_size_t(),
                       tensor.storage().nbytes(),
                       std::move(memory),
                       allocates,
                       true);
  auto made = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, tensor.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides());
  made.unsafeGetTensorImpl()->set_storage_offset(tensor.storage_offset());
  return made;
}

Tensor dense_on_device(Tensor const& tensor) {
  return over(
      memory_of(tensor.storage().data(), tensor, the_device), tensor, &allocator(), of_device);
}

Tensor dense_on_host(Tensor const& tensor) {
  auto* const data = tensor.storage().data();
  if (data == nullptr || tensor.numel() == 0)
    return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(c10::kCPU));
  return over(memory_of(data, c10::Storage(tensor.storage()), c10::kCPU),
              tensor,
              c10::GetCPUAllocator(),
              c10::DispatchKeySet(c10::DispatchKey::CPU));
}

// ---- Sparse tensors: indices and values

/// Gives `tensor` the entries of `like`. `side` converts them to the side of `tensor`. Uses the
/// implementations, because operators require tensors of one side.
template <class Side>
void become(Tensor const& tensor, Tensor const& like, Side const& side) {
  auto* const impl = at::sparse::get_sparse_impl(tensor);
  auto const* const other = at::sparse::get_sparse_impl(like);
  impl->raw_resize_(other->sparse_dim(), other->dense_dim(), other->sizes());
  impl->set_indices_and_values_unsafe(side(other->indices()), side(other->values()));
  impl->set_coalesced(other->coalesced());
}

template <class Side>
Tensor sparse_on(c10::DispatchKey key, Tensor const& other, Side const& side) {
  auto made =
      at::detail::make_tensor<at::SparseTensorImpl>(c10::DispatchKeySet(key), other.dtype());
  become(made, other, side);
  return made;
}

// ---- Nested tensors: one buffer, and the sizes of its parts

std::vector<std::int64_t> offsets_of(Tensor const& nested) {
  return at::native::get_nested_tensor_impl(nested)->get_offsets();
}

/// A nested tensor of the device. LibTorch itself creates them only for CPU and CUDA.
struct NestedOnDevice final : NestedTensorImpl {
  explicit NestedOnDevice(Tensor const& of_host)
      : NestedTensorImpl(at::native::get_nested_tensor_impl(of_host)->get_buffer(),
                         at::native::get_nested_tensor_impl(of_host)->get_nested_size_tensor(),
                         at::native::get_nested_tensor_impl(of_host)->get_nested_stride_tensor(),
                         offsets_of(of_host)) {
    storage_ = dense_on_device(at::native::get_nested_tensor_impl(of_host)->get_buffer()).storage();
    key_set_ = c10::DispatchKeySet(
        {c10::DispatchKey::NestedTensorXPU, c10::DispatchKey::AutogradNestedTensor});
    device_opt_ = the_device;
  }
};

Tensor nested_on_host(Tensor const& tensor) {
  auto const* const impl = at::native::get_nested_tensor_impl(tensor);
  return at::detail::make_tensor<NestedTensorImpl>(dense_on_host(impl->get_buffer()),
                                                   impl->get_nested_size_tensor(),
                                                   impl->get_nested_stride_tensor(),
                                                   offsets_of(tensor));
}

}  // namespace

c10::Allocator& allocator() {
  static Allocator only;
  return only;
}

bool is_on_device(Tensor const& tensor) {
  return tensor.defined() && tensor.device().type() == type;
}

Tensor to_device(Tensor const& tensor) {
  if (!tensor.defined() || is_on_device(tensor) || tensor.is_quantized()) return tensor;
  if (tensor.is_sparse())
    return sparse_on(
        c10::DispatchKey::SparseXPU, tensor, [](Tensor const& part) { return to_device(part); });
  if (tensor.is_nested()) return at::detail::make_tensor<NestedOnDevice>(tensor);
  return dense_on_device(tensor);
}

Tensor to_host(Tensor const& tensor) {
  if (!is_on_device(tensor)) return tensor;
  if (tensor.is_sparse())
    return sparse_on(
        c10::DispatchKey::SparseCPU, tensor, [](Tensor const& part) { return to_host(part); });
  return tensor.is_nested() ? nested_on_host(tensor) : dense_on_host(tensor);
}

void make_room(Tensor const& tensor, c10::IntArrayRef sizes) {
  auto const elements = c10::multiply_integers(sizes) + tensor.storage_offset();
  auto const bytes = static_cast<std::size_t>(elements) * tensor.itemsize();
  auto const& storage = tensor.storage();
  if (storage.nbytes() < bytes) {
    auto larger = allocator().allocate(bytes);
    if (storage.nbytes() > 0) std::memcpy(larger.get(), storage.data(), storage.nbytes());
    storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(larger));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
}

void assign(Tensor const& tensor, Tensor const& value) {
  if (tensor.is_sparse()) {
    become(tensor, value, dense_on_device);
    return;
  }
  make_room(tensor, value.sizes());
  if (value.numel() > 0) to_host(tensor).copy_(value);
}

}  // namespace torchwatch::pretend
