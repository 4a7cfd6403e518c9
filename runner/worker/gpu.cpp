#include "runner/worker/gpu.h"

#include <torch/torch.h>

#if TORCHWATCH_CUDA

#include <fstream>
#include <string>

#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

namespace torchwatch::worker::gpu {
namespace {

constexpr c10::DeviceIndex device = 0;
// In each of the caching allocator's arrays the first entry is the sum over its pools.
constexpr std::size_t all_pools = 0;

void check(cudaError_t status, char const* doing) {
  TORCH_CHECK(status == cudaSuccess, doing, ": ", cudaGetErrorString(status));
}

}  // namespace

bool is_available() {
  return torch::cuda::is_available();
}

void synchronize() {
  torch::cuda::synchronize(device);
}

void release_cache() {
  c10::cuda::CUDACachingAllocator::emptyCache();
}

void reset_peaks() {
  c10::cuda::CUDACachingAllocator::resetPeakStats(device);
}

Memory memory() {
  auto const stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device);
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "read the device's memory");
  return {stats.allocated_bytes[all_pools].peak,
          stats.reserved_bytes[all_pools].peak,
          static_cast<std::int64_t>(total - free)};
}

nlohmann::json describe() {
  auto description = nlohmann::json::object();
  if (!is_available()) return description;
  cudaDeviceProp properties{};
  int driver_cuda = 0;
  int runtime_cuda = 0;
  check(cudaGetDeviceProperties(&properties, device), "read the device's name");
  check(cudaDriverGetVersion(&driver_cuda), "read the driver's version");
  check(cudaRuntimeGetVersion(&runtime_cuda), "read the runtime's version");
  std::string driver;
  std::ifstream("/sys/module/nvidia/version") >> driver;
  description["gpu"] = properties.name;
  description["gpu_driver"] = driver;
  description["gpu_driver_cuda"] = driver_cuda;
  description["gpu_runtime_cuda"] = runtime_cuda;
  return description;
}

}  // namespace torchwatch::worker::gpu

#else

namespace torchwatch::worker::gpu {

bool is_available() {
  return false;
}

void synchronize() {}

void release_cache() {}

void reset_peaks() {}

Memory memory() {
  return {};
}

nlohmann::json describe() {
  return nlohmann::json::object();
}

}  // namespace torchwatch::worker::gpu

#endif

namespace torchwatch::worker::gpu {

void allow_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
}

}  // namespace torchwatch::worker::gpu
