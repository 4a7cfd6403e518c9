#include "runner/processors.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <sched.h>

namespace torchwatch::runner {
namespace {

std::vector<int> allowed_processors() {
  std::vector<int> allowed;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return allowed;
  for (std::size_t processor = 0; processor < std::size_t{CPU_SETSIZE}; ++processor)
    if (CPU_ISSET(processor, &set)) allowed.push_back(static_cast<int>(processor));
  return allowed;
}

/// Returns the siblings of a CPU, which identify its core: "0,32". Empty when the kernel does not
/// report them.
std::string core_of(int processor) {
  std::ifstream file{"/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                     "/topology/thread_siblings_list"};
  std::string siblings;
  std::getline(file, siblings);
  return siblings;
}

}  // namespace

Processors Processors::of_slot(int slot, int slots) {
  auto allowed = allowed_processors();
  std::ranges::reverse(allowed);
  std::map<int, int> nth_of_its_core;
  std::map<std::string, int> seen;
  for (int const processor : allowed) {
    auto const core = core_of(processor);
    nth_of_its_core[processor] = core.empty() ? 0 : seen[core]++;
  }
  std::ranges::stable_sort(
      allowed, {}, [&](int processor) { return nth_of_its_core.at(processor); });
  return Processors{std::move(allowed), slot, slots};
}

Processors::Processors(std::vector<int> order, int slot, int slots)
    : order_{std::move(order)},
      slot_{slot},
      slots_{slots} {}

std::vector<int> Processors::pick(int count) const {
  return picked_by(slot_, count);
}

std::vector<int> Processors::spare(int count) const {
  auto const own = pick(count);
  auto spare = order_;
  for (int slot = 0; slot < slots_; ++slot)
    if (auto const others = picked_by(slot, count); others != own)
      std::erase_if(spare,
                    [&others](int processor) { return std::ranges::count(others, processor) > 0; });
  return spare;
}

std::vector<int> Processors::picked_by(int slot, int count) const {
  int const sets = count > 0 ? static_cast<int>(order_.size()) / count : 0;
  if (sets == 0) return {};
  auto const first = order_.begin() + std::ptrdiff_t{slot % sets} * count;
  return {first, first + count};
}

std::vector<int> Processors::among(std::vector<int> const& wanted) const {
  std::vector<int> both;
  std::ranges::copy_if(order_, std::back_inserter(both), [&wanted](int processor) {
    return std::ranges::count(wanted, processor) > 0;
  });
  return both;
}

}  // namespace torchwatch::runner
