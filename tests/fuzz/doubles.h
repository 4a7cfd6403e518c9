#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace torchwatch::fuzz {

/// Reads an input as bytes, or eight bytes at a time as any double. Missing bytes are zero.
class Doubles {
 public:
  explicit Doubles(std::string_view input) : input_{input} {}

  bool is_over() const { return input_.empty(); }

  std::uint8_t byte() {
    if (input_.empty()) return 0;
    auto const first = static_cast<std::uint8_t>(input_.front());
    input_.remove_prefix(1);
    return first;
  }

  double next() {
    double value = 0;
    auto const size = input_.size() < sizeof value ? input_.size() : sizeof value;
    std::memcpy(&value, input_.data(), size);
    input_.remove_prefix(size);
    return value;
  }

 private:
  std::string_view input_;
};

}  // namespace torchwatch::fuzz
