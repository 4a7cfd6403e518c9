#include "github/figures.h"

#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace torchwatch::github {
namespace {

std::string milliseconds(double value) {
  return std::abs(value) < 1000 ? fmt::format("{:.4g} ms", value) : fmt::format("{:.0f} ms", value);
}

std::string bytes(double value) {
  constexpr std::array<std::string_view, 4> units{"KiB", "MiB", "GiB", "TiB"};
  if (std::abs(value) < 1024) return fmt::format("{:.4g} bytes", value);
  std::size_t unit = 0;
  for (value /= 1024; std::abs(value) >= 1024 && unit + 1 < units.size(); ++unit)
    value /= 1024;
  return fmt::format("{:.2f} {}", value, units.at(unit));
}

}  // namespace

std::string level_of(Metric metric, double value) {
  switch (metric) {
    case Metric::latency:
      return milliseconds(value);
    case Metric::cmem:
    case Metric::gmem:
      return bytes(value);
    case Metric::leak:
      return bytes(value) + "/iteration";
  }
  return fmt::format("{}", value);
}

std::string percent_change(double ratio) {
  return fmt::format("{:+.1f}%", (ratio - 1) * 100);
}

std::string interval_of(std::optional<RatioInterval> const& ratio) {
  if (!ratio) return "-";
  return "[" + percent_change(ratio->low) + ", " + percent_change(ratio->high) + "]";
}

std::string change_of(Metric metric, Comparison const& comparison) {
  if (comparison.ratio) return percent_change(comparison.ratio->ratio);
  if (!has_levels(comparison)) return "no figure";
  return fmt::format("from {:.4g} to {}", comparison.before, level_of(metric, comparison.after));
}

std::string share_of(double part) {
  return fmt::format("{:.0f}%", part * 100);
}

std::string probability_of(double probability) {
  constexpr double least = 0.001;
  if (probability < least) return "less than 0.1%";
  if (probability > 1 - least) return "more than 99.9%";
  return fmt::format("{:.1f}%", probability * 100);
}

}  // namespace torchwatch::github
