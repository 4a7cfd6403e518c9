#pragma once

#include <cstdint>

namespace c10 {
struct Allocator;
}

namespace torchwatch::worker {

/// While it lives, every CPU tensor's memory is counted: the bytes that LibTorch asked for, to the
/// byte. Memory that is older than it, or that LibTorch takes elsewhere (oneDNN's scratch, the
/// autograd graph), is not. Tensors may outlive it. One at a time; made and destroyed while no
/// other thread allocates.
class AllocationCount {
 public:
  AllocationCount();
  ~AllocationCount();
  AllocationCount(AllocationCount const&) = delete;
  AllocationCount& operator=(AllocationCount const&) = delete;

  std::int64_t live_bytes() const;

  /// All bytes that were ever handed out, returned or not.
  std::int64_t allocated_bytes() const;

  /// The most bytes that were live at once since the last reset.
  std::int64_t peak_bytes() const;

  /// The peak starts again from what is live now.
  void reset_peak();

 private:
  c10::Allocator* previous_;
};

}  // namespace torchwatch::worker
