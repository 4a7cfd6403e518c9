#include "bisect/search/priors.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string>

#include <fnmatch.h>

namespace torchwatch::bisect {

namespace {

constexpr double little = 0.05;
constexpr double some = 0.4;
constexpr double much = 1;

/// The share of the weights that does not depend on the searched nightlies.
constexpr double immovable = 0.05;

/// The weight of files in PyTorch's tree for a benchmark on each device. `*` in a path matches any
/// text, also slashes.
struct Rule {
  char const* path;
  double cpu;
  double cuda;
};

/// The first rule that matches counts.
constexpr std::array rules{
    // Files that are not part of the product.
    Rule{"*.md", little, little},
    Rule{"*.rst", little, little},
    Rule{"docs/*", little, little},
    Rule{"test/*", little, little},
    Rule{"*/test/*", little, little},
    Rule{"benchmarks/*", little, little},
    Rule{"binaries/*", little, little},
    Rule{"scripts/*", little, little},
    Rule{"android/*", little, little},
    Rule{"ios/*", little, little},
    Rule{".*", little, little},  // .github, .ci, settings of linters
    // Tools; some of them generate or configure code.
    Rule{"tools/autograd/*", much, much},
    Rule{"tools/codegen/*", much, much},
    Rule{"tools/jit/*", much, much},
    Rule{"tools/setup_helpers/*", much, much},
    Rule{"tools/build_*", much, much},
    Rule{"tools/*", little, little},
    // CMake reads one of Bazel's files.
    Rule{"build_variables.bzl", much, much},
    Rule{"*.bzl", little, little},
    Rule{"*.bazel", little, little},
    // Python, which the suite does not run.
    Rule{"torch/*.py", little, little},
    Rule{"torch/*.pyi", little, little},
    Rule{"torch/*.pyi.in", little, little},
    Rule{"functorch/*.py", little, little},
    // CUDA.
    Rule{"*cuda*", little, much},
    Rule{"*CUDA*", little, much},
    Rule{"*.cu", little, much},
    Rule{"*.cuh", little, much},
    Rule{"*/THC/*", little, much},
    Rule{"*cudnn*", little, much},
    Rule{"*cutlass*", little, much},
    Rule{"*flash-attention*", little, much},
    Rule{"*nccl*", little, much},
    Rule{"*NCCL*", little, much},
    // ROCm. LibTorch calls it cuda; most fleets do not have it.
    Rule{"*/hip/*", little, some},
    Rule{"*miopen*", little, some},
    Rule{"*composable_kernel*", little, some},
    // Devices that no fleet has.
    Rule{"*/mps/*", little, little},
    Rule{"*/metal/*", little, little},
    Rule{"*.metal", little, little},
    Rule{"*.mm", little, little},
    Rule{"*xpu*", little, little},
    Rule{"*/vulkan/*", little, little},
    Rule{"*/xla/*", little, little},
    Rule{"*/mtia/*", little, little},
    // Sources that benchmarks run, and how they are compiled.
    Rule{"aten/*", much, much},
    Rule{"c10/*", much, much},
    Rule{"torch/csrc/*", much, much},
    Rule{"torch/headeronly/*", much, much},
    Rule{"torch/lib/*", much, much},
    Rule{"torchgen/*", much, much},
    Rule{"caffe2/perfkernels/*", much, much},
    Rule{"third_party/*", much, much},
    Rule{"cmake/*", much, much},
    Rule{"*.cmake", much, much},
    Rule{"*CMakeLists.txt", much, much},
    Rule{"setup.py", much, much},
    Rule{"version.txt", much, much},
};

double weight(std::string const& path, Device device) {
  auto const* const found = std::ranges::find_if(
      rules, [&](Rule const& rule) { return ::fnmatch(rule.path, path.c_str(), 0) == 0; });
  if (found == rules.end()) return some;
  return device == Device::cuda ? found->cuda : found->cpu;
}

double weight(CommitChanges const& changes, Device device) {
  double heaviest = little;
  for (auto const& path : changes.paths)
    heaviest = std::max(heaviest, weight(path, device));
  for (auto const& pin : changes.pins)
    heaviest = std::max(heaviest, weight(pin.path, device));
  return heaviest;
}

}  // namespace

std::vector<double> prior_by_paths(std::span<CommitChanges const> changes,
                                   std::span<Series const> series) {
  std::set<Device> devices;
  for (auto const& one : series)
    devices.insert(one.benchmark.device);
  std::vector<double> weights;
  for (auto const& commit : changes) {
    double heaviest = little;
    for (auto const device : devices)
      heaviest = std::max(heaviest, weight(commit, device));
    weights.push_back(heaviest);
  }
  return weights;
}

std::vector<std::size_t> nightly_positions(std::span<CommitSha const> nightlies,
                                           CommitSha const& start,
                                           std::span<Commit const> suspects) {
  auto const is_nightly = [&](CommitSha const& commit) {
    return std::ranges::find(nightlies, commit) != nightlies.end();
  };
  std::vector<std::size_t> positions;
  if (is_nightly(start)) positions.push_back(0);
  for (std::size_t i = 0; i < suspects.size(); ++i)
    if (is_nightly(suspects[i].sha)) positions.push_back(i + 1);
  bool const has_ends =
      !positions.empty() && positions.front() == 0 && positions.back() == suspects.size();
  return has_ends && positions.size() > 2 ? positions : std::vector<std::size_t>{};
}

std::vector<Commit> ends_of_nights(std::span<Commit const> suspects,
                                   std::span<std::size_t const> positions) {
  std::vector<Commit> ends;
  for (std::size_t i = 1; i < positions.size(); ++i)
    ends.push_back(suspects[positions[i] - 1]);
  return ends;
}

std::vector<Commit> commits_of_nights(std::span<Commit const> suspects,
                                      std::span<std::size_t const> positions,
                                      std::span<Commit const> nights) {
  std::vector<Commit> commits;
  for (auto const& night : nights) {
    auto const end = std::ranges::find(suspects, night.sha, &Commit::sha) + 1;
    auto const position = static_cast<std::size_t>(end - suspects.begin());
    auto const rung = std::ranges::lower_bound(positions, position) - positions.begin();
    auto const begin = positions[static_cast<std::size_t>(rung - 1)];
    commits.insert(commits.end(), suspects.begin() + static_cast<std::ptrdiff_t>(begin), end);
  }
  return commits;
}

std::vector<double> nightly_prior(std::span<double const> prior,
                                  std::span<std::size_t const> positions) {
  std::vector<double> nights;
  for (std::size_t i = 0; i + 1 < positions.size(); ++i) {
    auto const night = prior.subspan(positions[i], positions[i + 1] - positions[i]);
    nights.push_back(std::accumulate(night.begin(), night.end(), 0.0));
  }
  return nights;
}

std::vector<double> prior_after_nightlies(std::vector<double> prior,
                                          std::span<std::size_t const> positions,
                                          std::span<double const> changed) {
  double const all = std::accumulate(prior.begin(), prior.end(), 0.0);
  double const changes = std::accumulate(changed.begin(), changed.end(), 0.0);
  double const moved = (1 - immovable) * std::min(1.0, changes);
  auto const nights = nightly_prior(prior, positions);
  for (std::size_t i = 0; i < nights.size(); ++i) {
    auto const begin = prior.begin() + static_cast<std::ptrdiff_t>(positions[i]);
    auto const end = prior.begin() + static_cast<std::ptrdiff_t>(positions[i + 1]);
    double const before = nights[i] / all;
    double const after = (1 - moved) * before + (moved > 0 ? moved * changed[i] / changes : 0);
    std::for_each(begin, end, [&](double& weight) { weight *= after / before; });
  }
  return prior;
}

}  // namespace torchwatch::bisect
