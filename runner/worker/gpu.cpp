#include "runner/worker/gpu.h"

#include <utility>

#if TORCHWATCH_CUDA

#include <cstdlib>
#include <fstream>

#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#endif

namespace torchwatch::worker {
namespace {

#if TORCHWATCH_CUDA

namespace allocator = c10::cuda::CUDACachingAllocator;

constexpr c10::DeviceIndex first = 0;
// The first entry in each of the caching allocator's arrays is the sum over its pools.
constexpr std::size_t all_pools = 0;

/// The bytes that were requested from the allocator. Empty before PyTorch 2.0.
struct Requested {
  std::optional<std::int64_t> now;
  std::optional<std::int64_t> peak;
};

template <class Stats>
auto requested_of(Stats const& stats, int) -> decltype(stats.requested_bytes, Requested()) {
  auto const& requested = stats.requested_bytes[all_pools];
  return {requested.current, requested.peak};
}

template <class Stats>
Requested requested_of(Stats const&, long) {
  return {};
}

std::optional<std::int64_t> used_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return std::nullopt;
  return static_cast<std::int64_t>(total - free);
}

nlohmann::json describe_first() {
  auto description = nlohmann::json::object();
  cudaDeviceProp properties{};
  int version = 0;
  std::string driver;
  if (cudaGetDeviceProperties(&properties, first) == cudaSuccess)
    description["gpu"] = properties.name;
  if (std::ifstream("/sys/module/nvidia/version") >> driver) description["gpu_driver"] = driver;
  if (cudaDriverGetVersion(&version) == cudaSuccess) description["gpu_driver_cuda"] = version;
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) description["gpu_runtime_cuda"] = version;
  for (auto const* const name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"})
    if (auto const* const value = std::getenv(name)) description["gpu_allocator"] = value;
  return description;
}

class Gpu final : public Device {
 public:
  torch::Device place() const override { return {torch::kCUDA, first}; }

  bool is_apart() const override { return true; }

  void synchronize() override { torch::cuda::synchronize(first); }

  void release_cache() override { allocator::emptyCache(); }

  void reset_peaks() override { allocator::resetPeakStats(first); }

  DeviceMemory memory() override {
    auto const stats = allocator::getDeviceStats(first);
    auto const requested = requested_of(stats, 0);
    return {stats.allocated_bytes[all_pools].current,
            stats.allocated_bytes[all_pools].peak,
            stats.reserved_bytes[all_pools].peak,
            requested.now,
            requested.peak,
            used_bytes()};
  }

  Trace trace(std::function<void()> const& before,
              std::function<void()> const& steps,
              Traced what) override {
    return trace_device(c10::DeviceType::CUDA, before, steps, what == Traced::operators);
  }

  nlohmann::json describe() noexcept override {
    try {
      return describe_first();
    } catch (...) {
      return nlohmann::json::object();
    }
  }
};

/// Returns the reason why there is no device; empty when there is one. Asks the CUDA runtime,
/// because LibTorch prints the reason only on standard error.
std::string why_not_first() {
  int count = 0;
  auto const status = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());  // clear it, or LibTorch would find it
  if (status != cudaSuccess) return std::string("CUDA reports: ") + cudaGetErrorString(status);
  return count > 0 ? "" : "CUDA finds no device";
}

void add_gpu(Devices& devices) {
  devices.wants_a_gpu = true;
  devices.why_no_gpu = why_not_first();
  if (devices.why_no_gpu.empty()) devices.by_name["cuda"] = std::make_unique<Gpu>();
}

#else

void add_gpu(Devices& devices) {
  devices.why_no_gpu = "this LibTorch was built without CUDA";
}

#endif

}  // namespace

Devices devices_of_host() {
  Devices devices;
  devices.by_name["cpu"] = host_device();
  add_gpu(devices);
  return devices;
}

void set_tf32(Tf32 wish) {
  auto& context = at::globalContext();
  static bool const products = context.allowTF32CuBLAS();
  static bool const convolutions = context.allowTF32CuDNN();
  context.setAllowTF32CuBLAS(wish == Tf32::as_pytorch ? products : wish == Tf32::allowed);
  context.setAllowTF32CuDNN(wish == Tf32::as_pytorch ? convolutions : wish == Tf32::allowed);
}

}  // namespace torchwatch::worker
