#include "pretend_device.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "either_side.h"
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>
#include <torch/torch.h>

/// Replaces at::Context::defaultGenerator, whose header defines it only for CPU and CUDA. The host
/// draws the random numbers of the device.
at::Generator const& default_generator(at::Context* context, c10::Device device) asm(
    "_ZN2at7Context16defaultGeneratorEN3c106DeviceE");

at::Generator const& default_generator(at::Context*, c10::Device) {
  return at::detail::getDefaultCPUGenerator();
}

namespace torchwatch::pretend {
namespace {

using at::Tensor;
using c10::IntArrayRef;
using c10::IValue;
using c10::OperatorHandle;
using torch::jit::Stack;

template <class T>
using Optional = c10::optional<T>;  // LibTorch 1.13 does not use std::optional

Seen& notes() {
  static Seen all;
  return all;
}

// ---- The device: one, with one stream, in the host's memory

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return pretend::type; }

  c10::Device exchangeDevice(c10::Device) const override { return the_device; }

  c10::Device getDevice() const override { return the_device; }

  void setDevice(c10::Device) const override {}

  void uncheckedSetDevice(c10::Device) const noexcept override {}

  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, the_device);
  }

  c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return stream; }

  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};

// ---- Observations

std::string shape_of(Tensor const& tensor) {
  if (tensor.is_nested()) return "[nested]";
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

void note_mixed(char const* op, std::initializer_list<Tensor> tensors) {
  bool on_device = false;
  bool on_host = false;
  for (auto const& tensor : tensors)
    if (tensor.defined()) (is_on_device(tensor) ? on_device : on_host) = true;
  if (on_device && on_host) notes().mixed.insert(std::string(op) + " with tensors of the host");
}

void note_copy(Tensor const& from, Tensor const& to) {
  if (is_on_device(from) && !is_on_device(to)) ++notes().synchronisations;
}

/// A tensor among an operator's arguments.
struct Given {
  std::string name;
  Tensor tensor;
};

std::vector<Given> tensors_of(OperatorHandle const& op, std::vector<IValue> const& arguments) {
  std::vector<Given> all;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    auto const& value = arguments[at];
    auto const& name = op.schema().arguments()[at].name();
    if (value.isTensor()) all.push_back({name, value.toTensor()});
    if (value.isTensorList())
      for (auto const& tensor : value.toTensorVector())
        all.push_back({name, tensor});
    if (value.isOptionalTensorList())
      for (Optional<Tensor> const tensor : value.toOptionalTensorList())
        if (tensor) all.push_back({name, *tensor});
  }
  std::erase_if(all, [](Given const& given) { return !given.tensor.defined(); });
  return all;
}

/// True when CUDA accepts this argument on the host together with its own tensors: copies, masks
/// and indices.
bool may_be_of_host(std::string const& op, std::string const& argument) {
  static std::set<std::string> const copies{"aten::copy_", "aten::_copy_from"};
  static std::set<std::string> const take_indices{"aten::index",
                                                  "aten::index_put",
                                                  "aten::index_put_",
                                                  "aten::_index_put_impl_",
                                                  "aten::masked_fill",
                                                  "aten::masked_fill_"};
  if (copies.contains(op)) return true;
  return take_indices.contains(op) && argument != "self" && argument != "values";
}

void note(OperatorHandle const& op, std::vector<Given> const& given) {
  auto const& name = op.schema().name();
  if (name == "aten::_local_scalar_dense" || name == "aten::nonzero") ++notes().synchronisations;
  if (name == "aten::copy_") note_copy(given.at(1).tensor, given.at(0).tensor);
  // The lengths of sequences are on the host
  if (name == "aten::_pack_padded_sequence" || name == "aten::_pack_padded_sequence_backward")
    return;
  for (auto const& [argument, tensor] : given)
    if (!is_on_device(tensor) && tensor.dim() > 0 && !may_be_of_host(name, argument))
      notes().mixed.insert(name + " with " + argument + shape_of(tensor) + " of the host");
}

// ---- Operators without a kernel of the device, which call the host's

bool is_written(c10::Argument const& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

/// Converts an argument for the host's kernel.
IValue argument_for_host(IValue const& value, c10::Argument const& argument) {
  if (value.isTensor()) {
    auto const& tensor = value.toTensor();
    bool const is_new = is_on_device(tensor) && is_written(argument) && tensor.numel() == 0;
    return is_new ? at::empty({0}, tensor.options().device(c10::kCPU)) : to_host(tensor);
  }
  if (value.isTensorList()) {
    auto list = value.toTensorVector();
    for (auto& tensor : list)
      tensor = to_host(tensor);
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<Optional<Tensor>> list;
    for (Optional<Tensor> const tensor : value.toOptionalTensorList())
      list.push_back(tensor ? Optional<Tensor>(to_host(*tensor)) : tensor);
    return list;
  }
  if (value.isDevice() && value.toDevice().type() == type) return c10::Device(c10::kCPU);
  return value;
}

/// Copies the result of the host's kernel to an argument that it writes.
void write_back(Tensor const& tensor, Tensor const& of_host) {
  if (tensor.is_sparse() || tensor.numel() == 0 ||
      of_host.storage().data() != tensor.storage().data())
    assign(tensor, of_host);
  else if (of_host.sizes() != tensor.sizes() || of_host.strides() != tensor.strides())
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(of_host.sizes(), of_host.strides());
}

/// Returns a view of the device's `base`, like the `view` that the host's kernel made of its
/// memory.
Tensor view_like(Tensor const& view, Tensor const& base) {
  auto made = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(base.storage()), of_device, base.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(view.sizes(), view.strides());
  auto const bytes =
      static_cast<char*>(view.data_ptr()) - static_cast<char*>(base.storage().data());
  made.unsafeGetTensorImpl()->set_storage_offset(
      base.numel() == 0 ? 0 : bytes / static_cast<std::int64_t>(base.itemsize()));
  return made;
}

/// Converts a `view` that the host's kernel made of `base`, or of a part of it.
Tensor view_of(Tensor const& base, Tensor const& view) {
  bool const is_dense = base.layout() == c10::kStrided && !base.is_nested();
  return is_dense ? view_like(view, base) : to_device(view);
}

/// Returns the argument that a result is, or is a view of.
std::optional<std::size_t> source_of(c10::Argument const& result,
                                     c10::FunctionSchema const& schema) {
  for (std::size_t at = 0; at < schema.arguments().size(); ++at) {
    auto const* const info = schema.arguments()[at].alias_info();
    if (info != nullptr && info->beforeSets() == result.alias_info()->beforeSets()) return at;
  }
  return std::nullopt;
}

IValue result_for_device(IValue const& value) {
  if (value.isTensor()) return to_device(value.toTensor());
  if (!value.isTensorList()) return value;
  auto list = value.toTensorVector();
  for (auto& tensor : list)
    tensor = to_device(tensor);
  return list;
}

IValue result_of(IValue const& value,
                 std::size_t place,
                 c10::FunctionSchema const& schema,
                 std::vector<IValue> const& arguments) {
  auto const& result = schema.returns()[place];
  if (result.alias_info() == nullptr) {
    bool const is_of_host = schema.name() == "aten::_pack_padded_sequence" && place == 1;
    return is_of_host ? value : result_for_device(value);
  }
  auto const source = source_of(result, schema);
  if (!source) return value;
  if (result.alias_info()->isWrite()) return arguments[*source];
  bool const is_view = value.isTensor() && arguments[*source].isTensor();
  return is_view ? view_of(arguments[*source].toTensor(), value.toTensor()) : value;
}

void call_hosts(OperatorHandle const& op, Stack& stack) {
  try {
    op.callBoxed(&stack);
  } catch (c10::Error const& problem) {
    throw std::runtime_error(op.schema().name() + "." + op.schema().overload_name() + ": " +
                             problem.what_without_backtrace());
  }
}

void fall_back(OperatorHandle const& op, Stack* stack) {
  auto const& schema = op.schema();
  auto const count = schema.arguments().size();
  std::vector<IValue> const arguments(stack->end() - static_cast<std::ptrdiff_t>(count),
                                      stack->end());
  note(op, tensors_of(op, arguments));
  stack->resize(stack->size() - count);
  std::vector<IValue> of_host;
  for (std::size_t at = 0; at < count; ++at)
    of_host.push_back(argument_for_host(arguments[at], schema.arguments()[at]));
  stack->insert(stack->end(), of_host.begin(), of_host.end());

  call_hosts(op, *stack);

  for (std::size_t at = 0; at < count; ++at)
    if (is_written(schema.arguments()[at]) && arguments[at].isTensor() &&
        is_on_device(arguments[at].toTensor()))
      write_back(arguments[at].toTensor(), of_host[at].toTensor());
  auto const first = stack->size() - schema.returns().size();
  for (std::size_t place = 0; place < schema.returns().size(); ++place)
    (*stack)[first + place] = result_of((*stack)[first + place], place, schema, arguments);
}

// ---- Kernels of the device: creation, copies and convolutions of tensors

// NOLINTBEGIN(readability-function-size,readability-identifier-naming,bugprone-return-const-ref-from-parameter):
// LibTorch's names and signatures
Tensor empty(IntArrayRef sizes,
             Optional<at::ScalarType> dtype,
             Optional<at::Layout>,
             Optional<c10::Device>,
             Optional<bool>,
             Optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(
      sizes, &allocator(), of_device, dtype.value_or(at::kFloat), format);
}

Tensor empty_strided(IntArrayRef sizes,
                     IntArrayRef strides,
                     Optional<at::ScalarType> dtype,
                     Optional<at::Layout>,
                     Optional<c10::Device>,
                     Optional<bool>) {
  return at::detail::empty_strided_generic(
      sizes, strides, &allocator(), of_device, dtype.value_or(at::kFloat));
}

Tensor const& resize_(Tensor const& tensor, IntArrayRef sizes, Optional<at::MemoryFormat>) {
  make_room(tensor, sizes);
  return tensor;
}

Tensor as_strided(Tensor const& tensor,
                  IntArrayRef sizes,
                  IntArrayRef strides,
                  Optional<std::int64_t> offset) {
  auto view = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(tensor.storage()), tensor.key_set(), tensor.dtype());
  view.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  view.unsafeGetTensorImpl()->set_storage_offset(offset.value_or(tensor.storage_offset()));
  return view;
}

Tensor copy_from(Tensor const& from, Tensor const& to, bool) {
  note_copy(from, to);
  to_host(to).copy_(to_host(from));
  return to;
}

Tensor copy_from_and_resize(Tensor const& from, Tensor const& to) {
  assign(to, to_host(from));
  return to;
}

Tensor& copy_sparse(Tensor& to, Tensor const& from, bool) {
  note_copy(from, to);
  assign(to, to_host(from).clone());
  return to;
}

Tensor convolution(Tensor const& input,
                   Tensor const& weight,
                   Optional<Tensor> const& bias,
                   IntArrayRef stride,
                   IntArrayRef padding,
                   IntArrayRef dilation,
                   bool transposed,
                   IntArrayRef output_padding,
                   std::int64_t groups) {
  note_mixed("aten::convolution", {input, weight, bias.value_or(Tensor())});
  return to_device(at::convolution(to_host(input),
                                   to_host(weight),
                                   bias ? to_host(*bias) : Tensor(),
                                   stride,
                                   padding,
                                   dilation,
                                   transposed,
                                   output_padding,
                                   groups));
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(Tensor const& gradient,
                                                        Tensor const& input,
                                                        Tensor const& weight,
                                                        IntArrayRef stride,
                                                        IntArrayRef padding,
                                                        IntArrayRef dilation,
                                                        bool transposed,
                                                        IntArrayRef output_padding,
                                                        std::int64_t groups,
                                                        std::array<bool, 3> wanted) {
  note_mixed("aten::convolution_backward", {gradient, input, weight});
  std::vector<std::int64_t> const bias_sizes{transposed ? weight.size(1) * groups : weight.size(0)};
  auto const [of_input, of_weight, of_bias] = at::convolution_backward(to_host(gradient),
                                                                       to_host(input),
                                                                       to_host(weight),
                                                                       IntArrayRef(bias_sizes),
                                                                       stride,
                                                                       padding,
                                                                       dilation,
                                                                       transposed,
                                                                       output_padding,
                                                                       groups,
                                                                       wanted);
  return {to_device(of_input), to_device(of_weight), to_device(of_bias)};
}

// NOLINTEND(readability-function-size,readability-identifier-naming,bugprone-return-const-ref-from-parameter)

Guard const guard;
c10::impl::DeviceGuardImplRegistrar const registrar(type, &guard);

TORCH_LIBRARY_IMPL(aten, XPU, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("resize_", &resize_);
  library.impl("as_strided", &as_strided);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("convolution_overrideable", &convolution);
  library.impl("convolution_backward_overrideable", &convolution_backward);
}

TORCH_LIBRARY_IMPL(aten, SparseXPU, library) {
  library.impl("copy_", &copy_sparse);
}

TORCH_LIBRARY_IMPL(_, XPU, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}

TORCH_LIBRARY_IMPL(_, SparseXPU, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}

TORCH_LIBRARY_IMPL(_, NestedTensorXPU, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}

}  // namespace

c10::Device device() {
  return the_device;
}

void watch() {
  notes() = {};
}

Seen const& seen() {
  return notes();
}

}  // namespace torchwatch::pretend
