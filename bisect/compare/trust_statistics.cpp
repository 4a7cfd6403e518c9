#include "bisect/compare/trust_statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bisect/compare/statistics.h"

namespace torchwatch::bisect {
namespace {

constexpr std::size_t fewest_nights = 2;

double median_level(std::span<NightOfSeries const> nights) {
  std::vector<double> levels;
  for (auto const& night : nights)
    levels.push_back(night.level);
  return median(std::move(levels));
}

/// The value with the share `share` of the values below it. Requires at least one value.
double quantile(std::vector<double> values, double share) {
  auto const last = static_cast<double>(values.size() - 1);
  auto const at = values.begin() + std::lround(share * last);
  std::ranges::nth_element(values, at);
  return *at;
}

/// The levels of one series on each host, relative to the median over all hosts.
using RatiosOfHosts = std::map<std::int64_t, std::vector<double>>;

RatiosOfHosts ratios_of(std::span<NightOfSeries const> nights) {
  if (nights.size() < fewest_nights) return {};
  auto const middle = median_level(nights);
  if (!(middle > 0)) return {};
  RatiosOfHosts ratios;
  for (auto const& night : nights)
    if (night.level > 0) ratios[night.host].push_back(night.level / middle);
  return ratios;
}

}  // namespace

std::optional<NightNoise> noise_of(std::span<NightOfSeries const> nights) {
  if (nights.size() < fewest_nights) return std::nullopt;
  auto const middle = median_level(nights);
  if (!(middle > 0)) return std::nullopt;
  std::vector<double> levels;
  std::vector<double> ranges;
  for (auto const& night : nights) {
    levels.push_back(night.level / middle);
    ranges.push_back((night.high - night.low) / middle);
  }
  return NightNoise{middle, spread(std::move(levels)), median(std::move(ranges))};
}

std::map<std::int64_t, HostPace> paces_of(std::span<SeriesNights const> series) {
  RatiosOfHosts medians;
  std::map<std::int64_t, HostPace> paces;
  for (auto const& one : series) {
    for (auto& [host, ratios] : ratios_of(one.nights)) {
      paces[host].nights += ratios.size();
      medians[host].push_back(median(std::move(ratios)));
    }
  }
  for (auto& [host, pace] : paces) {
    auto const& ratios = medians.at(host);
    pace.series = ratios.size();
    pace.ratio = median(ratios);
    pace.low = quantile(ratios, 0.1);
    pace.high = quantile(ratios, 0.9);
  }
  return paces;
}

}  // namespace torchwatch::bisect
