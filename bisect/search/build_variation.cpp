#include "bisect/search/build_variation.h"

#include <algorithm>
#include <cmath>

#include "bisect/compare/statistics.h"

namespace torchwatch::bisect {
namespace {

constexpr std::size_t fewest_pairs = 4;

/// Standard deviation of normal values about zero, relative to their median size.
constexpr double by_median_size = 1.4826;

/// Standard error of a median, relative to that of a mean.
constexpr double of_median = 1.2533;

std::vector<double> log_ratios(std::span<Pair const> pairs) {
  std::vector<double> ratios;
  for (auto const& [before, after] : pairs)
    if (double const ratio = std::log(after) - std::log(before); std::isfinite(ratio))
      ratios.push_back(ratio);
  return ratios;
}

}  // namespace

std::optional<BuildDifference> difference_of(std::span<Pair const> pairs) {
  auto const ratios = log_ratios(pairs);
  if (ratios.size() < fewest_pairs) return std::nullopt;
  return BuildDifference{
      median(ratios), of_median * spread(ratios) / std::sqrt(static_cast<double>(ratios.size()))};
}

std::optional<BuildDifference> difference_of(std::span<Pair const> usual,
                                             std::span<Pair const> rebuilt) {
  auto const one = difference_of(usual);
  auto const other = difference_of(rebuilt);
  if (!one || !other) return std::nullopt;
  return BuildDifference{
      one->size - other->size, std::hypot(one->noise, other->noise), one->builds + other->builds};
}

std::optional<double> build_variation(std::span<BuildDifference const> differences) {
  if (differences.size() < fewest_differences) return std::nullopt;
  std::vector<double> sizes;
  std::vector<double> noises;
  for (auto const& [size, noise, builds] : differences) {
    double const made_of = std::sqrt(static_cast<double>(builds));
    sizes.push_back(std::abs(size) / made_of);
    noises.push_back(noise / made_of);
  }
  double const all = by_median_size * median(std::move(sizes));
  double const measured = median(std::move(noises));
  return std::sqrt(std::max(0.0, all * all - measured * measured));
}

}  // namespace torchwatch::bisect
