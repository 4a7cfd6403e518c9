#include "runner/worker/host.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <torch/torch.h>
#include <torch/version.h>

namespace torchwatch::worker {
namespace {

std::string first_line(std::filesystem::path const& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

/// The folder that holds lib/libtorch_cpu.so; empty when LibTorch is linked statically.
std::filesystem::path libtorch_prefix() {
  std::filesystem::path library;
  auto const look = [](dl_phdr_info* object, std::size_t, void* found) {
    std::filesystem::path const path(object->dlpi_name);
    if (!path.filename().string().starts_with("libtorch_cpu.so")) return 0;
    *static_cast<std::filesystem::path*>(found) = path;
    return 1;
  };
  dl_iterate_phdr(look, &library);
  return library.parent_path().parent_path();
}

/// The value of `key` in "..., KEY=value, ..." of LibTorch's configuration.
std::string setting(std::string_view key) {
  auto const config = at::show_config();
  auto const label = std::string(key) + "=";
  auto const at = config.find(label);
  if (at == std::string::npos) return {};
  auto const begin = at + label.size();
  return config.substr(begin, config.find_first_of(",\n ", begin) - begin);
}

/// True for a commit hash. Builds outside of git have "Unknown".
bool is_commit(std::string const& text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Returns the 64-bit FNV-1a hash: short, and equal on every host.
std::string digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (char const character : text) {
    hash ^= static_cast<unsigned char>(character);
    hash *= 0x100000001b3U;
  }
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(hash));
  return hex.data();
}

std::string cpu_model() {
  std::ifstream stream("/proc/cpuinfo");
  std::string line;
  while (std::getline(stream, line))
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return {};
}

/// Returns the CPUs on which the kernel may run this process, in its notation: "1", "0-3,8".
std::string allowed_processors() {
  std::string const key = "Cpus_allowed_list:\t";
  std::ifstream stream("/proc/self/status");
  std::string line;
  while (std::getline(stream, line))
    if (line.starts_with(key)) return line.substr(key.size());
  return {};
}

}  // namespace

std::string pytorch_version() {
  auto const version = first_line(libtorch_prefix() / "build-version");
  return version.empty() ? TORCH_VERSION : version;
}

std::string git_hash() {
  for (auto const& hash : {first_line(libtorch_prefix() / "build-hash"), setting("COMMIT_SHA")})
    if (is_commit(hash)) return hash;
  return {};
}

nlohmann::json fingerprint(Devices const& devices) {
  utsname system{};
  uname(&system);
  auto all = nlohmann::json::object();
  for (auto const& [name, device] : devices.by_name)
    all.update(device->describe());
  all["host"] = system.nodename;
  all["kernel"] = system.release;
  all["cpu"] = cpu_model();
  all["governor"] = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  all["processors"] = allowed_processors();
  all["threads"] = at::get_num_threads();
  all["libtorch"] = pytorch_version();
  all["libtorch_config"] = digest(at::show_config());
  return all;
}

std::int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

void keep_freed_memory() {
  // The limit that glibc's dynamic threshold reaches in a long-running program (mallopt(3)).
  constexpr int largest_mmap_threshold = 32 << 20;
  constexpr int never = -1;
  mallopt(M_MMAP_THRESHOLD, largest_mmap_threshold);
  mallopt(M_TRIM_THRESHOLD, never);
}

void set_threads(int threads) {
  at::set_num_threads(threads);
  // LibTorch does not pass its count on to OpenBLAS, which uses every core by default.
  using Setter = void(int);
  if (void* const symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
    reinterpret_cast<Setter*>(symbol)(threads);
}

}  // namespace torchwatch::worker
