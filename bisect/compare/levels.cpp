#include "bisect/compare/levels.h"

#include <algorithm>
#include <cmath>

#include "bisect/compare/statistics.h"

namespace torchwatch::bisect {
namespace {

using Table = std::vector<std::vector<double>>;  // log runs by process, then time

/// Median polish converges fast: after these sweeps the remaining error is far below any noise.
constexpr int sweeps = 10;

bool can_be_polished(std::span<std::vector<double> const> runs) {
  return std::ranges::all_of(runs, [&](std::vector<double> const& own) {
    return own.size() > 1 && own.size() == runs.front().size() &&
           std::ranges::all_of(own, [](double run) { return run > 0; });
  });
}

Table logarithms_of(std::span<std::vector<double> const> runs) {
  Table table{runs.begin(), runs.end()};
  for (auto& own : table)
    for (auto& run : own)
      run = std::log(run);
  return table;
}

/// Subtracts from each column its median over processes, and returns the medians.
std::vector<double> sweep_times(Table& table) {
  std::vector<double> medians;
  for (std::size_t time = 0; time < table.front().size(); ++time) {
    std::vector<double> column;
    for (auto const& own : table)
      column.push_back(own[time]);
    medians.push_back(median(std::move(column)));
    for (auto& own : table)
      own[time] -= medians.back();
  }
  return medians;
}

/// Subtracts from each row its median over time, and adds the medians to `effects`.
void sweep_processes(Table& table, std::vector<double>& effects) {
  for (std::size_t process = 0; process < table.size(); ++process) {
    double const middle = median(table[process]);
    effects[process] += middle;
    for (auto& run : table[process])
      run -= middle;
  }
}

}  // namespace

std::vector<double> levels_of(std::span<std::vector<double> const> runs) {
  std::vector<double> levels;
  if (!can_be_polished(runs)) {
    for (auto const& own : runs)
      levels.push_back(median(own));
    return levels;
  }
  auto table = logarithms_of(runs);
  std::vector<double> times(table.front().size());
  std::vector<double> effects(table.size());
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    auto const moved = sweep_times(table);
    std::ranges::transform(times, moved, times.begin(), std::plus{});
    sweep_processes(table, effects);
  }
  double const common = median(times);
  for (double const effect : effects)
    levels.push_back(std::exp(common + effect));
  return levels;
}

}  // namespace torchwatch::bisect
