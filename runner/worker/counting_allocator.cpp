#include "runner/worker/counting_allocator.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

namespace torchwatch::worker {
namespace {

/// Counts of allocated and freed bytes. Thread-safe.
class Ledger {
 public:
  void open() {
    std::lock_guard const lock(mutex_);
    sizes_.clear();
    live_ = peak_ = allocated_ = 0;
  }

  void add(void* memory, std::size_t bytes) {
    std::lock_guard const lock(mutex_);
    sizes_.emplace(memory, bytes);
    live_ += static_cast<std::int64_t>(bytes);
    allocated_ += static_cast<std::int64_t>(bytes);
    peak_ = std::max(peak_, live_);
  }

  /// Ignores memory from before the last open().
  void remove(void* memory) {
    std::lock_guard const lock(mutex_);
    auto const found = sizes_.find(memory);
    if (found == sizes_.end()) return;
    live_ -= static_cast<std::int64_t>(found->second);
    sizes_.erase(found);
  }

  std::int64_t live() const {
    std::lock_guard const lock(mutex_);
    return live_;
  }

  std::int64_t allocated() const {
    std::lock_guard const lock(mutex_);
    return allocated_;
  }

  std::int64_t peak() const {
    std::lock_guard const lock(mutex_);
    return peak_;
  }

  void reset_peak() {
    std::lock_guard const lock(mutex_);
    peak_ = live_;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<void*, std::size_t> sizes_;
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t allocated_ = 0;
};

// Never destroyed: tensors in static objects of LibTorch are freed after ours would be.
Ledger& ledger() {
  static auto& instance = *new Ledger;
  return instance;
}

c10::Allocator& stock() {
  return *c10::GetDefaultCPUAllocator();
}

void forget_and_free(void* memory) {
  ledger().remove(memory);
  stock().raw_deleter()(memory);
}

// Which functions of c10::Allocator are pure or const differs between versions, and between
// nightlies of one version. All variants are defined here, and the existing one is overridden. So
// `override` is impossible, and its warning is off.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"

// NOLINTBEGIN(modernize-use-override): as said above

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) const { return counted(bytes); }

  c10::DataPtr allocate(std::size_t bytes) { return counted(bytes); }

  c10::DeleterFnPtr raw_deleter() const { return &forget_and_free; }

  void copy_data(void* to, void const* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }

 private:
  static c10::DataPtr counted(std::size_t bytes) {
    void* const memory = stock().raw_allocate(bytes);
    if (memory != nullptr) ledger().add(memory, bytes);
    return {memory, memory, &forget_and_free, c10::Device(c10::DeviceType::CPU)};
  }
};

// NOLINTEND(modernize-use-override)
#pragma GCC diagnostic pop

// Never destroyed: storages keep a pointer to their allocator.
CountingAllocator& counting_allocator() {
  static auto& instance = *new CountingAllocator;
  return instance;
}

// The highest priority, so that our allocator replaces any of LibTorch's, and can be replaced
// again.
constexpr std::uint8_t priority = 255;

}  // namespace

AllocationCount::AllocationCount() : previous_(c10::GetCPUAllocator()) {
  ledger().open();
  c10::SetCPUAllocator(&counting_allocator(), priority);
}

AllocationCount::~AllocationCount() {
  c10::SetCPUAllocator(&stock(), priority);
}

std::int64_t AllocationCount::live_bytes() const {
  return ledger().live();
}

std::int64_t AllocationCount::allocated_bytes() const {
  return ledger().allocated();
}

std::int64_t AllocationCount::peak_bytes() const {
  return ledger().peak();
}

void AllocationCount::reset_peak() {
  ledger().reset_peak();
}

}  // namespace torchwatch::worker
