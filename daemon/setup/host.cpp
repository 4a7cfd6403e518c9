#include "daemon/setup/host.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "daemon/async/tool.h"

namespace torchwatch::setup {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

std::string contents_of(fs::path const& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// Returns the path of a program; empty when the directories of `path`, as in PATH, have none.
std::string program_on(std::string const& path, std::string const& name) {
  std::istringstream directories{path};
  for (std::string directory; std::getline(directories, directory, ':');) {
    auto const file = fs::path{directory} / name;
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

/// Returns the value in "KEY: value" lines, or an empty text.
std::string value_of(std::string const& text, std::string const& key) {
  std::smatch found;
  std::regex const line{"(?:^|\n)" + key + R"([ \t]*:[ \t]*([^\n]*[^\s]))"};
  return std::regex_search(text, found, line) ? found[1].str() : "";
}

int number_in(std::string const& text) {
  return std::atoi(text.c_str());
}

/// Returns the numbers of a list such as "0-3,8", as the kernel writes it.
std::set<int> numbers_in(std::string const& list) {
  std::set<int> numbers;
  std::istringstream ranges{list};
  for (std::string range; std::getline(ranges, range, ',');) {
    auto const dash = range.find('-');
    int const first = number_in(range);
    int const last = dash == std::string::npos ? first : number_in(range.substr(dash + 1));
    for (int number = first; number <= last; ++number)
      numbers.insert(number);
  }
  return numbers;
}

/// Counts the allowed processors, their cores and their sockets. ARM's kernels do not list cores
/// here; then each processor counts as one.
void count_processors(fs::path const& root, Host& host) {
  auto const status = contents_of(root / "proc/self/status");
  auto const allowed = numbers_in(value_of(status, "Cpus_allowed_list"));
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  int processors = 0;
  auto const all = contents_of(root / "proc/cpuinfo");
  static std::regex const blank_line{"\n\n"};
  std::sregex_token_iterator const blocks{all.begin(), all.end(), blank_line, -1};
  for (auto at = blocks; at != std::sregex_token_iterator{}; ++at) {
    auto const block = at->str();
    auto const number = value_of(block, "processor");
    if (number.empty() || (!allowed.empty() && !allowed.contains(number_in(number)))) continue;
    ++processors;
    auto const socket = value_of(block, "physical id");
    auto const core = value_of(block, "core id");
    sockets.insert(socket);
    cores.emplace(socket, core.empty() ? "processor " + number : core);
  }
  host.processors = std::max(1, processors);
  host.cores = std::max(1, static_cast<int>(cores.size()));
  host.sockets = std::max(1, static_cast<int>(sockets.size()));
}

/// Applies the CPU quota of a container, which may be allowed all processors and a share of their
/// time: "200000 100000" is two.
void obey_quota(fs::path const& root, Host& host) {
  std::istringstream text{contents_of(root / "sys/fs/cgroup/cpu.max")};
  double quota = 0;
  double period = 0;
  if (!(text >> quota >> period) || quota <= 0 || period <= 0) return;  // "max"
  auto const share = std::max(1, static_cast<int>(std::floor(quota / period)));
  host.processors = std::min(host.processors, share);
  host.cores = std::min(host.cores, share);
}

int numa_nodes_of(fs::path const& root) {
  auto const nodes = numbers_in(contents_of(root / "sys/devices/system/node/online"));
  return std::max(1, static_cast<int>(nodes.size()));
}

/// Returns the GPUs by the files of the driver, which exist without nvidia-smi, too.
std::vector<std::string> gpus_of_driver(fs::path const& root) {
  std::vector<std::string> gpus;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator{root / "proc/driver/nvidia/gpus", ignored}) {
    auto const model = value_of(contents_of(entry.path() / "information"), "Model");
    gpus.push_back(model.empty() ? "GPU" : model);
  }
  if (!gpus.empty()) return gpus;
  static std::regex const device{"nvidia[0-9]+"};
  for (auto const& entry : fs::directory_iterator{root / "dev", ignored})
    if (std::regex_match(entry.path().filename().string(), device)) gpus.emplace_back("GPU");
  return gpus;
}

/// True when a CUDA toolkit is where CudaToolkits.cmake looks by default. Workers for CUDA builds
/// need a header of it that wheels do not have.
bool has_cuda_toolkit_in(fs::path const& root) {
  auto const has_header = [](fs::path const& toolkit) {
    std::error_code ignored;
    return fs::exists(toolkit / "include/crt/host_defines.h", ignored);
  };
  if (has_header(root / "usr")) return true;
  std::error_code ignored;
  fs::directory_iterator const entries{root / "usr/local", ignored};
  return std::any_of(begin(entries), end(entries), [&](fs::directory_entry const& entry) {
    return entry.path().filename().string().starts_with("cuda") && has_header(entry.path());
  });
}

/// Returns the output of a program; empty when it fails.
asio::awaitable<std::string> output_of(asio::any_io_executor executor,
                                       std::vector<std::string> argv) {
  constexpr std::chrono::seconds patience{10};
  process::Command command;
  command.argv = std::move(argv);
  auto run = co_await async::run_tool(std::move(executor), std::move(command), patience);
  if (!run || !run->is_good()) co_return std::string{};
  co_return std::move(run->output);
}

std::vector<std::string> lines_in(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace

asio::awaitable<Host> inspect_host(asio::any_io_executor executor, HostSources sources) {
  Host host;
  auto const name = lines_in(contents_of(sources.root / "proc/sys/kernel/hostname"));
  host.name = name.empty() ? "this host" : name.front();
  count_processors(sources.root, host);
  obey_quota(sources.root, host);
  host.numa_nodes = numa_nodes_of(sources.root);
  constexpr int kib = 1024;
  host.memory_mib =
      number_in(value_of(contents_of(sources.root / "proc/meminfo"), "MemTotal")) / kib;
  host.has_slurm =
      !program_on(sources.path, "sinfo").empty() && !program_on(sources.path, "srun").empty();
  host.has_docker = !program_on(sources.path, "docker").empty();
  if (auto const smi = program_on(sources.path, "nvidia-smi"); !smi.empty()) {
    std::vector<std::string> question{smi, "--query-gpu=name", "--format=csv,noheader"};
    auto const names = co_await output_of(executor, std::move(question));
    host.gpus = lines_in(names);
    question = {smi};
    auto const table = co_await output_of(executor, std::move(question));
    static std::regex const version{R"(CUDA Version:\s*([0-9]+\.[0-9]+))"};
    std::smatch found;
    if (std::regex_search(table, found, version)) host.cuda = found[1];
  }
  host.has_cuda_toolkit = has_cuda_toolkit_in(sources.root);
  if (host.gpus.empty()) host.gpus = gpus_of_driver(sources.root);
  co_return host;
}

}  // namespace torchwatch::setup
