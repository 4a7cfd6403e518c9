#pragma once

#include <cstdint>

namespace c10 {
struct Allocator;
}

namespace torchwatch::worker {

/// Counts the memory of all CPU tensors while it exists: the exact bytes that LibTorch requested.
/// It does not count older memory, or memory from other allocators (oneDNN's scratch memory, the
/// autograd graph). Tensors may outlive it. Only one may exist at a time. No other thread may
/// allocate during construction and destruction.
class AllocationCount {
 public:
  AllocationCount();
  ~AllocationCount();
  AllocationCount(AllocationCount const&) = delete;
  AllocationCount& operator=(AllocationCount const&) = delete;

  /// Returns the bytes that are allocated now.
  std::int64_t live_bytes() const;

  /// Returns the sum of all allocations so far, freed or not.
  std::int64_t allocated_bytes() const;

  /// Returns the highest value of `live_bytes` since the last reset.
  std::int64_t peak_bytes() const;

  /// Sets the peak to the current `live_bytes`.
  void reset_peak();

 private:
  c10::Allocator* previous_;
};

}  // namespace torchwatch::worker
