#include "runner/command/build.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <sys/utsname.h>

namespace torchwatch::command {
namespace {

namespace fs = std::filesystem;

constexpr auto packages_link = "packages";

bool is_package(fs::path const& directory) {
  std::error_code ignored;
  return fs::exists(directory / "__init__.py", ignored);
}

/// Returns a link to `directory` with a path that is the same for all builds.
std::string linked(fs::path const& directory) {
  std::error_code problem;
  auto const link = fs::current_path(problem) / packages_link;
  if (!problem && fs::is_symlink(link, problem)) fs::remove(link, problem);
  fs::create_directory_symlink(directory, link, problem);
  return problem ? directory.string() : link.string();
}

std::string packages_of(fs::path const& prefix) {
  if (is_package(prefix / "torch")) return prefix.string();
  std::error_code problem;
  auto const real = fs::canonical(prefix, problem);
  if (problem || real.filename() != "torch" || !is_package(real)) return {};
  return linked(real.parent_path());
}

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
  auto const file = fs::path{build.packages} / "torch/version.py";
  if (build.packages.empty()) return;
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
  build.packages = packages_of(build.prefix);
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
