#include "daemon/setup/first_config.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "config/options.h"
#include "runner/catalogue/catalogue.h"

namespace torchwatch::setup {
namespace {

/// Returns the text in quotes, with escapes.
std::string quoted(std::string const& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Returns the text without line breaks, for names that were found on the host.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char byte) { return byte >= 0 && byte < ' '; }, ' ');
  return text;
}

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string counted(int count, std::string_view thing) {
  return counted(static_cast<std::size_t>(count), thing);
}

/// Returns the number of benchmarks of all models, at sizes that have every test.
int benchmarks_of_the_suite() {
  int benchmarks = 0;
  for (auto const& model : suite::catalogue())
    benchmarks += (model.smoke.train > 0 ? 1 : 0) + (model.smoke.eval > 0 ? 1 : 0);
  return benchmarks;
}

/// The average time of a process at smoke sizes: 20 benchmarks of every eighth model, one thread at
/// 2.8 GHz.
constexpr int process_s = 4;

/// Returns the time for a nightly: the sweep, and as much again for comparisons. Rounded up.
int minutes_of_the_suite() {
  constexpr int processes = 2 * 2;  // two pairs
  constexpr int closer_look = 2;
  constexpr int minute_s = 60;
  constexpr int grain = 10;
  int const minutes = benchmarks_of_the_suite() * processes * process_s * closer_look / minute_s;
  return (minutes / grain + 1) * grain;
}

/// Returns the memory limit of a worker when two run side by side and the host needs some itself.
/// 0: the default fits.
std::int64_t memory_limit(Host const& host) {
  auto const share = std::int64_t{host.memory_mib} * 9 / 20;
  return host.memory_mib > 0 && share < config::MeasureOptions{}.memory_mib ? share : 0;
}

/// Returns the channel with which the GPU can be watched.
std::optional<std::string> channel_of(Host const& host, FirstConfig const& first) {
  if (host.gpus.empty() || !host.has_cuda_toolkit || first.channel.empty()) return std::nullopt;
  return first.channel;
}

std::string feed_lines(Host const& host, FirstConfig const& first) {
  auto const url = first.url.empty() ? "" : ", \"url\": " + quoted(first.url);
  auto const channel = channel_of(host, first);
  auto const* const size =
      channel ? "some GiB, as do the libraries of CUDA that nightlies share" : "about 1 GiB";
  return fmt::format(
             R"(
  // PyTorch's nightlies, the same wheels that pip installs. A nightly is downloaded once and takes {}; its worker
  // is compiled here, in minutes. "builds" limits the disk space: 200 GiB at most by default, and 10 GiB stay free.
  "feed": {{ "kind": "wheels", "channel": "{}")",
             size,
             channel.value_or("cpu")) +
         url + R"( },

  // A clone shows which commits are new in a nightly: git clone --bare https://github.com/pytorch/pytorch.git
  // "source": { "repository": "pytorch.git", "remote": "origin" },
)";
}

/// Returns the reason why these GPUs are not watched, and how to watch them.
std::string missing_lines(Host const& host, FirstConfig const& first) {
  if (host.cuda.empty())
    return "nvidia-smi does not show which CUDA its driver runs: update the driver, or run "
           "nvidia-smi yourself.\n";
  auto const driver = "Its driver runs CUDA " + host.cuda;
  if (first.channel.empty()) return driver + ": " + one_line(first.no_channel) + ".\n";
  return driver + ", so " + first.channel + R"( fits, but workers for it
  // are compiled with headers of a CUDA toolkit, and none is here: install one, and write in the place of "feed" above and
  // of "fleets" below:
  // "feed": { "kind": "wheels", "channel": ")" +
         first.channel + R"(" },
  // "fleets": [{ "name": "gpu", "device": "cuda", "slots": 1 }],
)";
}

std::string gpu_lines(Host const& host, FirstConfig const& first) {
  if (host.gpus.empty()) return "";
  auto const found = "\n  // Found " + counted(host.gpus.size(), "GPU") + ": " +
                     one_line(host.gpus.front()) + ". ";
  if (!channel_of(host, first)) return found + missing_lines(host, first);
  return found + "Its driver runs CUDA " + host.cuda +
         ", and the CUDA toolkit is here, so it is watched.\n";
}

/// Returns the fleet that can measure most on this host.
std::string first_fleet(Host const& host, FirstConfig const& first) {
  if (!channel_of(host, first)) {
    return R"(
  // Where builds are measured: one at a time, on this host.
  "fleets": [
    { "name": "cpu", "device": "cpu", "slots": 1 }
)";
  }
  return R"(
  // Where builds are measured: one at a time, on this host's first GPU. CPU and GPU at once would disturb each other.
  "fleets": [
    { "name": "gpu", "device": "cuda", "slots": 1 }
    // , { "name": "cpu", "device": "cpu", "slots": 1 }
)";
}

std::string fleet_lines(Host const& host, FirstConfig const& first) {
  auto text = first_fleet(host, first);
  if (host.has_slurm) {
    text +=
        R"(    // Slurm is here. Nodes need torchwatch and state_dir at the same paths; results of unlike nodes do not compare.
    // , { "name": "slurm", "device": "cpu", "slots": 2, "launcher": ["srun", "--exclusive", "--nodes=1"] }
)";
  }
  if (host.has_docker) {
    text +=
        R"(    // Docker is here. IMAGE needs torchwatch at the same path as here; STATE is state_dir, written in full. The container is the
    // sandbox of its workers.
    // , { "name": "docker", "device": "cpu", "slots": 1, "isolation": "none", "launcher": ["docker", "run", "--rm", "-i", "-v", "STATE:STATE", "IMAGE"] }
)";
  }
  return text + "  ],\n";
}

std::string suite_lines(Host const& host) {
  auto text = fmt::format(
      R"(
  // All models, at sizes that a CPU measures in a night. Estimate for cores of 2.8 GHz: {} benchmarks x 4 processes x {} s, and
  // as much again to confirm changes: {} minutes, after the worker is compiled. Published sizes ("scale": "full") take
  // many times as long, and larger models may run into measure.timeout_s.
  "suite": {{ "models": ["all"], "scale": "smoke" }},

  // Two builds are measured side by side, each on its own cores. Fewer threads mean less noise.
  "measure": {{ "threads": {})",
      benchmarks_of_the_suite(),
      process_s,
      minutes_of_the_suite(),
      threads_for(host));
  auto const limit = memory_limit(host);
  if (limit > 0) text += fmt::format(", \"memory_mib\": {}", limit);
  return text + " },\n";
}

constexpr auto last_lines = R"(
  // Incidents become issues when a repository is named; until then they are files in state_dir/reports.
  // "github": { "repository": "owner/name", "token_file": "token" },

  // The address of the service. Its health: curl http://127.0.0.1:8917/healthz
  "http": { "address": "127.0.0.1", "port": 8917 }
}
)";

}  // namespace

std::string first_config(Host const& host, FirstConfig const& first) {
  return "// Written by torchwatch init for " + one_line(host.name) + ": " + description_of(host) +
         R"(.
// All other options have defaults: `torchwatch config show FILE`. To test them all: `torchwatch config check FILE`.
{
  // Database, builds, logs and reports. Relative paths are relative to this file.
  "state_dir": )" +
         quoted(first.state_dir) + ",\n" + feed_lines(host, first) + gpu_lines(host, first) +
         fleet_lines(host, first) + suite_lines(host) + last_lines;
}

std::string description_of(Host const& host) {
  auto text = counted(host.cores, "core") + ", " + counted(host.sockets, "socket") + ", " +
              counted(host.numa_nodes, "NUMA node");
  constexpr int gib = 1024;
  if (host.memory_mib > 0) text += fmt::format(", {} GiB of memory", host.memory_mib / gib);
  text += host.gpus.empty()
              ? ", no GPU"
              : ", " + counted(host.gpus.size(), "GPU") + " (" + one_line(host.gpus.front()) + ")";
  if (host.has_slurm) text += ", Slurm";
  if (host.has_docker) text += ", Docker";
  return text;
}

int threads_for(Host const& host) {
  return std::clamp(host.cores / std::max(1, host.numa_nodes) / 4, 1, 4);
}

}  // namespace torchwatch::setup
