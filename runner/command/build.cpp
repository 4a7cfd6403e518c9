#include "runner/command/build.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <sys/utsname.h>

#include "runner/python_packages.h"

namespace torchwatch::command {
namespace {

namespace fs = std::filesystem;

std::string first_line_of(fs::path const& file) {
  std::string line;
  std::ifstream stream{file};
  std::getline(stream, line);
  return line;
}

/// Returns the text in quotes of a line `NAME = 'text'`, as torch/version.py has it.
std::string assigned_in(fs::path const& file, std::string_view name) {
  std::ifstream stream{file};
  for (std::string line; std::getline(stream, line);) {
    auto const begin = line.find('\'');
    auto const end = line.rfind('\'');
    if (line.starts_with(name) && begin < end && end != std::string::npos)
      return line.substr(begin + 1, end - begin - 1);
  }
  return {};
}

/// Returns the text after `key` of the first line of `file` that begins with it.
std::string value_in(fs::path const& file, std::string_view key) {
  std::ifstream stream{file};
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(key)) {
      auto const begin = line.find_first_not_of(" \t:", key.size());
      return begin == std::string::npos ? "" : line.substr(begin);
    }
  return {};
}

void read_version(Build& build) {
  fs::path const prefix{build.prefix};
  build.version = first_line_of(prefix / "build-version");
  build.git_hash = first_line_of(prefix / "build-hash");
  std::error_code problem;  // the prefix is a link with another name
  auto const packages = runner::python_packages_of(fs::canonical(prefix, problem).string());
  if (packages.empty()) return;
  auto const file = fs::path{packages} / "torch/version.py";
  if (build.version.empty()) build.version = assigned_in(file, "__version__");
  if (build.git_hash.empty()) build.git_hash = assigned_in(file, "git_version");
}

}  // namespace

Build find_build(std::string const& prefix) {
  Build build;
  if (prefix.empty()) return build;
  std::error_code problem;
  auto const path = fs::absolute(prefix, problem);
  build.prefix = problem ? prefix : path.string();
  read_version(build);
  return build;
}

nlohmann::json fingerprint(int threads, Build const& build) {
  utsname system{};
  ::uname(&system);
  auto all = nlohmann::json::object();
  all["host"] = system.nodename;
  all["kernel"] = system.release;
  all["cpu"] = value_in("/proc/cpuinfo", "model name");
  all["governor"] = first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  all["processors"] = value_in("/proc/self/status", "Cpus_allowed_list");
  all["threads"] = threads;
  all["libtorch"] = build.version;
  return all;
}

}  // namespace torchwatch::command
