#include "runner/nvml.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <sched.h>

#include "storage/base/number.h"

namespace torchwatch::runner {
namespace {

// The names and numbers of the library that we use, as in nvml.h (NVML API Reference Guide). They
// are a stable ABI, so the header is not needed.
using Handle = void*;
using Status = int;

constexpr Status success = 0;
constexpr Status not_supported = 3;
constexpr Status lost = 15;
constexpr Status insufficient_size = 7;
constexpr int sm_clock = 1;
constexpr int memory_clock = 2;
constexpr int gpu_temperature = 0;
constexpr int uncorrected = 1;
constexpr int since_reset = 0;
constexpr std::size_t uuid_size = 96;
constexpr std::size_t bits_of_a_word = std::numeric_limits<unsigned long>::digits;

/// nvmlProcessInfo_t, since its second version.
struct ProcessInfo {
  unsigned pid = 0;
  unsigned long long used_bytes = 0;  ///< all ones: not available
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

/// A function of the library. One that an old driver lacks returns `not_supported`.
template <class... Arguments>
class Function {
 public:
  Function(void* library, char const* name)
      : function_{reinterpret_cast<Status (*)(Arguments...)>(::dlsym(library, name))} {}

  Status operator()(Arguments... arguments) const {
    return function_ == nullptr ? not_supported : function_(arguments...);
  }

 private:
  Status (*function_)(Arguments...);
};

struct Closer {
  void operator()(void* library) const { ::dlclose(library); }
};

}  // namespace

struct Nvml::Library {
  explicit Library(void* opened)
      : file{opened},
        init{opened, "nvmlInit_v2"},
        shutdown{opened, "nvmlShutdown"},
        count{opened, "nvmlDeviceGetCount_v2"},
        by_index{opened, "nvmlDeviceGetHandleByIndex_v2"},
        mig_count{opened, "nvmlDeviceGetMaxMigDeviceCount"},
        mig_by_index{opened, "nvmlDeviceGetMigDeviceHandleByIndex"},
        mig_mode{opened, "nvmlDeviceGetMigMode"},
        uuid{opened, "nvmlDeviceGetUUID"},
        clock{opened, "nvmlDeviceGetClockInfo"},
        temperature{opened, "nvmlDeviceGetTemperature"},
        power_limit{opened, "nvmlDeviceGetEnforcedPowerLimit"},
        throttling{opened, "nvmlDeviceGetCurrentClocksThrottleReasons"},
        ecc_errors{opened, "nvmlDeviceGetTotalEccErrors"},
        of_instance{opened, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle"},
        affinity{opened, "nvmlDeviceGetCpuAffinity"},
        processes{opened, "nvmlDeviceGetComputeRunningProcesses_v3"},
        text{reinterpret_cast<char const* (*)(Status)>(::dlsym(opened, "nvmlErrorString"))} {}

  Library(Library const&) = delete;
  Library& operator=(Library const&) = delete;

  ~Library() {
    if (is_ready) shutdown();
  }

  Error error(Status status, std::string const& doing) const {
    std::string const words = text == nullptr ? "code " + std::to_string(status) : text(status);
    return {ErrorCode::unavailable, "NVML: " + doing + ": " + words};
  }

  std::string uuid_of(Handle device) const {
    std::array<char, uuid_size> name{};
    if (uuid(device, name.data(), static_cast<unsigned>(name.size())) != success) return {};
    name.back() = '\0';
    return name.data();
  }

  /// Returns the GPUs, each followed by its MIG instances.
  Result<std::vector<Handle>> devices() const {
    unsigned number = 0;
    if (auto const status = count(&number); status != success) return error(status, "count GPUs");
    std::vector<Handle> all;
    for (unsigned index = 0; index < number; ++index) {
      Handle device = nullptr;
      if (by_index(index, &device) != success) continue;  // lost; list the others
      all.push_back(device);
      unsigned instances = 0;
      if (mig_count(device, &instances) != success) continue;
      for (unsigned of_it = 0; of_it < instances; ++of_it)
        if (Handle instance = nullptr; mig_by_index(device, of_it, &instance) == success)
          all.push_back(instance);
    }
    return all;
  }

  Result<Handle> find(std::string const& gpu) const {
    if (auto const index = gpu.empty() ? std::optional{0U} : parse_number<unsigned>(gpu)) {
      Handle device = nullptr;
      auto const status = by_index(*index, &device);
      if (status == success) return device;
      return error(status, "find GPU " + std::to_string(*index));
    }
    auto const all = devices();
    if (!all) return all.error();
    auto const named =
        std::ranges::find_if(*all, [&](Handle device) { return uuid_of(device).starts_with(gpu); });
    if (named == all->end()) return Error{ErrorCode::not_found, "NVML: no GPU is named " + gpu};
    return *named;
  }

  /// Returns the GPU of a MIG instance, or `device` itself. Only UUIDs and processes are reported
  /// per instance.
  Handle whole_of(Handle device) const {
    Handle whole = nullptr;
    return of_instance(device, &whole) == success ? whole : device;
  }

  std::unique_ptr<void, Closer> file;
  Function<> init;
  Function<> shutdown;
  Function<unsigned*> count;
  Function<unsigned, Handle*> by_index;
  Function<Handle, unsigned*> mig_count;
  Function<Handle, unsigned, Handle*> mig_by_index;
  Function<Handle, unsigned*, unsigned*> mig_mode;
  Function<Handle, char*, unsigned> uuid;
  Function<Handle, int, unsigned*> clock;
  Function<Handle, int, unsigned*> temperature;
  Function<Handle, unsigned*> power_limit;
  Function<Handle, unsigned long long*> throttling;
  Function<Handle, int, int, unsigned long long*> ecc_errors;
  Function<Handle, Handle*> of_instance;
  Function<Handle, unsigned, unsigned long*> affinity;
  Function<Handle, unsigned*, ProcessInfo*> processes;
  char const* (*text)(Status);
  bool is_ready = false;
};

namespace {

/// Reads values of a device, and remembers when it is lost.
class Query {
 public:
  template <class Value, class Call>
  std::optional<Value> read(Call const& call) {
    Value value{};
    auto const status = call(&value);
    if (status == lost) is_lost_ = true;
    return status == success ? std::optional{value} : std::nullopt;
  }

  bool is_lost() const { return is_lost_; }

 private:
  bool is_lost_ = false;
};

std::optional<int> number(std::optional<unsigned> value, unsigned unit = 1) {
  return value ? std::optional{static_cast<int>(*value / unit)} : std::nullopt;
}

std::optional<std::uint64_t> wide(std::optional<unsigned long long> value) {
  return value ? std::optional{std::uint64_t{*value}} : std::nullopt;
}

}  // namespace

Nvml::Nvml(std::unique_ptr<Library> library) : library_{std::move(library)} {}

Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&&) noexcept = default;
Nvml::~Nvml() = default;

Result<Nvml> Nvml::load(std::string const& library) {
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return Error{ErrorCode::unavailable, std::string{"NVML: "} + ::dlerror()};
  auto loaded = std::make_unique<Library>(opened);
  if (auto const status = loaded->init(); status != success)
    return loaded->error(status, "initialise");
  loaded->is_ready = true;
  return Nvml{std::move(loaded)};
}

Result<GpuIdentity> Nvml::identity_of(std::string const& gpu) const {
  auto const& library = *library_;
  auto const found = library.find(gpu);
  if (!found) return found.error();
  auto* const device = library.whole_of(*found);
  constexpr unsigned milliwatts = 1000;
  Query query;
  GpuIdentity identity;
  identity.uuid = library.uuid_of(*found);
  auto const limit =
      query.read<unsigned>([&](unsigned* value) { return library.power_limit(device, value); });
  identity.power_limit_w = number(limit, milliwatts);
  unsigned pending = 0;
  auto const mode = query.read<unsigned>(
      [&](unsigned* current) { return library.mig_mode(device, current, &pending); });
  if (mode) identity.is_partitioned = *mode != 0;
  if (query.is_lost()) return library.error(lost, "describe GPU " + gpu);
  return identity;
}

Result<GpuState> Nvml::state_of(std::string const& gpu) const {
  using Wide = unsigned long long;
  auto const& library = *library_;
  auto const found = library.find(gpu);
  if (!found) return found.error();
  auto* const device = library.whole_of(*found);
  Query query;
  auto const clock = [&](int which) {
    return number(
        query.read<unsigned>([&](unsigned* mhz) { return library.clock(device, which, mhz); }));
  };
  GpuState state;
  state.sm_mhz = clock(sm_clock);
  state.memory_mhz = clock(memory_clock);
  state.temperature_c = number(query.read<unsigned>(
      [&](unsigned* value) { return library.temperature(device, gpu_temperature, value); }));
  state.throttling =
      wide(query.read<Wide>([&](Wide* value) { return library.throttling(device, value); }));
  state.uncorrected_errors = wide(query.read<Wide>(
      [&](Wide* value) { return library.ecc_errors(device, uncorrected, since_reset, value); }));
  if (query.is_lost()) return library.error(lost, "look at GPU " + gpu);
  return state;
}

Result<std::vector<std::string>> Nvml::gpus() const {
  auto const all = library_->devices();
  if (!all) return all.error();
  auto const is_instance = [this](Handle device) {
    return library_->whole_of(device) != device;
  };
  std::vector<std::string> names;
  for (auto device = all->begin(); device != all->end(); ++device) {
    bool const is_in_parts = std::next(device) != all->end() && is_instance(*std::next(device));
    if (is_instance(*device) || !is_in_parts) names.push_back(library_->uuid_of(*device));
  }
  return names;
}

std::vector<int> Nvml::processors_near(std::string const& gpu) const {
  auto const& library = *library_;
  auto const found = library.find(gpu);
  if (!found) return {};
  auto* const device = library.whole_of(*found);
  std::array<unsigned long, CPU_SETSIZE / bits_of_a_word> words{};
  if (library.affinity(device, static_cast<unsigned>(words.size()), words.data()) != success)
    return {};
  std::vector<int> near;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    auto const place = static_cast<std::size_t>(processor);
    if ((words.at(place / bits_of_a_word) >> (place % bits_of_a_word) & 1UL) != 0)
      near.push_back(processor);
  }
  return near;
}

std::map<pid_t, std::int64_t> Nvml::memory_by_process(std::string const& gpu) const {
  constexpr unsigned spare = 8;  // for processes that start between the two calls
  auto const found = library_->find(gpu);
  if (!found) return {};
  unsigned count = 0;
  auto status = library_->processes(*found, &count, nullptr);
  if (status != insufficient_size) return {};  // no processes, or not supported
  std::vector<ProcessInfo> listed(count + spare);
  count = static_cast<unsigned>(listed.size());
  status = library_->processes(*found, &count, listed.data());
  if (status != success) return {};
  listed.resize(std::min<std::size_t>(count, listed.size()));
  std::map<pid_t, std::int64_t> bytes;
  for (auto const& process : listed)
    if (process.used_bytes != std::numeric_limits<unsigned long long>::max())
      bytes[static_cast<pid_t>(process.pid)] += static_cast<std::int64_t>(process.used_bytes);
  return bytes;
}

}  // namespace torchwatch::runner
