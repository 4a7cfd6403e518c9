#include "kernels.h"

#include <ATen/ops/_empty_affine_quantized_native.h>

#include <string>

namespace lab {

namespace {

// What messages call the tensor that is asked for.
std::string describe(at::IntArrayRef size, c10::optional<at::ScalarType> dtype, double scale,
                     int64_t zero_point) {
  std::string text = "a tensor of";
  for (const auto extent : size) text += c10::str(" ", extent);
  if (dtype) text += c10::str(" ", *dtype);
  return c10::str(text, " with scale ", scale, " and zero point ", zero_point);
}

// Integers can stand for real numbers only in steps of some width.
void check_scale(at::IntArrayRef size, c10::optional<at::ScalarType> dtype, double scale,
                 int64_t zero_point) {
  const auto tensor = describe(size, dtype, scale, zero_point);
  TORCH_CHECK(scale > 0, tensor, " would hold nothing but zero");
}

}  // namespace

// Room for the integers q of a tensor whose values are (q - zero_point) * scale.
Tensor empty_affine_quantized(at::IntArrayRef size, c10::optional<at::ScalarType> dtype,
                              c10::optional<at::Layout> layout, c10::optional<at::Device> device,
                              c10::optional<bool> pin_memory, double scale, int64_t zero_point,
                              c10::optional<at::MemoryFormat> memory_format) {
  check_scale(size, dtype, scale, zero_point);
  return at::native::empty_affine_quantized(size, dtype, layout, device, pin_memory, scale,
                                            zero_point, memory_format);
}

}  // namespace lab
