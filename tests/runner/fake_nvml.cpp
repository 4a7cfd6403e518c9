// A fake of NVIDIA's management library for tests. It reads its values at each call from the JSON
// file that TORCHWATCH_FAKE_NVML names, so that a GPU can change or disappear.
//
//   {"init": 0, "gpus": [{"uuid": "GPU-1", "lost": false, "sm_mhz": 1980, ..., "instances":
//   ["MIG-1"], "processes": {"4711": 1048576}}]}
//
// A missing value is not supported by that GPU.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

constexpr int success = 0;
constexpr int invalid_argument = 2;
constexpr int not_supported = 3;
constexpr int not_found = 6;
constexpr int lost = 15;
constexpr int insufficient_size = 7;

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

json script() {
  std::ifstream file{std::getenv("TORCHWATCH_FAKE_NVML")};
  return json::parse(file);
}

/// A handle encodes the index of a GPU and of one of its instances.
constexpr std::size_t per_gpu = 100;

std::array<char, 10 * per_gpu>& places() {
  static std::array<char, 10 * per_gpu> all;
  return all;
}

void* handle_of(std::size_t gpu, std::size_t instance) {
  return &places().at(gpu * per_gpu + instance);
}

std::size_t place_of(void* handle) {
  return static_cast<std::size_t>(static_cast<char*>(handle) - places().data());
}

json gpu_of(void* handle) {
  return script().at("gpus").at(place_of(handle) / per_gpu);
}

std::size_t instance_of(void* handle) {
  return place_of(handle) % per_gpu;
}

template <class Value>
int read_value(void* handle, char const* what, Value* value) {
  if (instance_of(handle) != 0) return not_supported;
  auto const gpu = gpu_of(handle);
  if (gpu.value("lost", false)) return lost;
  if (!gpu.contains(what)) return not_supported;
  *value = gpu.at(what).get<Value>();
  return success;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): theirs
extern "C" {

int nvmlInit_v2();
int nvmlShutdown();
char const* nvmlErrorString(int status);
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device);
int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count);
int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** instance);
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* instance, void** device);
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending);
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length);
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz);
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius);
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts);
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons);
int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* count);
int nvmlDeviceGetCpuAffinity(void* device, unsigned words, unsigned long* set);
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* infos);

int nvmlInit_v2() {
  return script().value("init", success);
}

int nvmlShutdown() {
  return success;
}

char const* nvmlErrorString(int status) {
  static std::map<int, char const*> const texts{{invalid_argument, "Invalid Argument"},
                                                {not_supported, "Not Supported"},
                                                {not_found, "Not Found"},
                                                {lost, "GPU is lost"},
                                                {18, "Driver/library version mismatch"}};
  auto const text = texts.find(status);
  return text == texts.end() ? "Unknown Error" : text->second;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(script().at("gpus").size());
  return success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  auto const all = script().at("gpus");
  if (index >= all.size()) return invalid_argument;
  if (all.at(index).value("lost", false)) return lost;
  *device = handle_of(index, 0);
  return success;
}

int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count) {
  *count = static_cast<unsigned>(gpu_of(device).value("instances", json::array()).size());
  return success;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** instance) {
  *instance = handle_of(place_of(device) / per_gpu, index + 1);
  return success;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* instance, void** device) {
  if (instance_of(instance) == 0) return invalid_argument;
  *device = handle_of(place_of(instance) / per_gpu, 0);
  return success;
}

int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *pending = 0;
  return read_value(device, "mig_mode", current);
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  auto const gpu = gpu_of(device);
  auto const instance = instance_of(device);
  auto const name = instance == 0 ? gpu.at("uuid").get<std::string>()
                                  : gpu.at("instances").at(instance - 1).get<std::string>();
  std::strncpy(uuid, name.c_str(), length);
  return success;
}

int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
  return read_value(device, type == 1 ? "sm_mhz" : "memory_mhz", mhz);
}

int nvmlDeviceGetTemperature(void* device, int, unsigned* celsius) {
  return read_value(device, "temperature_c", celsius);
}

int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
  return read_value(device, "power_limit_mw", milliwatts);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  return read_value(device, "throttling", reasons);
}

int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* count) {
  return type == 1 && counter == 0 ? read_value(device, "uncorrected_errors", count)
                                   : not_supported;
}

int nvmlDeviceGetCpuAffinity(void* device, unsigned words, unsigned long* set) {
  constexpr unsigned bits = std::numeric_limits<unsigned long>::digits;
  auto const gpu = gpu_of(device);
  if (instance_of(device) != 0 || !gpu.contains("processors")) return not_supported;
  std::fill_n(set, words, 0UL);
  for (unsigned const processor : gpu.at("processors"))
    set[processor / bits] |= 1UL << processor % bits;
  return success;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* infos) {
  auto const gpu = gpu_of(device);
  if (!gpu.contains("processes")) return not_supported;
  auto const room = *count;
  *count = 0;
  for (auto const& [pid, bytes] : gpu.at("processes").items()) {
    if (*count < room)
      infos[*count] = {static_cast<unsigned>(std::stoul(pid)),
                       bytes.is_null() ? std::numeric_limits<unsigned long long>::max()
                                       : bytes.get<unsigned long long>(),
                       0,
                       0};
    ++*count;
  }
  return *count > room ? insufficient_size : success;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
