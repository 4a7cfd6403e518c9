#include "tests/years/processes.h"

#include <algorithm>
#include <cmath>

namespace torchwatch::years {
namespace {

constexpr int runs = 10;  // config::MeasureOptions
constexpr int leak_differences = 19;

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  auto const middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// To a microsecond, which is what clocks tell.
double rounded(double ms) {
  return std::round(ms * 1e3) / 1e3;
}

MetricValue times(double level, double noise, bool is_brief, Chance& chance) {
  MetricValue value;
  double const process = level * std::exp(noise * chance.normal());
  for (int run = 0; run < (is_brief ? 1 : runs); ++run)
    value.samples.push_back(rounded(process * std::exp(0.3 * noise * chance.normal())));
  // Something else woke up.
  if (!is_brief && chance.happens(0.03)) {
    auto const at = chance.below(value.samples.size());
    value.samples[at] = rounded(value.samples[at] * chance.between(1.2, 1.8));
    value.outliers = {static_cast<int>(at)};
  }
  value.value = median_of(value.samples);
  return value;
}

void add_accounts(JobOutcome& outcome) {
  auto const memory = outcome.values.find(Metric::cmem);
  constexpr double of_libraries = 310e6;
  outcome.accounts["rss_peak_bytes"] = of_libraries + memory->second.value;
  auto const gpu = outcome.values.find(Metric::gmem);
  if (gpu == outcome.values.end()) return;
  outcome.accounts["gpu_reserved_peak_bytes"] = std::ceil(gpu->second.value / 2097152) * 2097152;
  outcome.accounts["gpu_device_used_bytes"] = gpu->second.value + 512e6;
}

MetricValue measured(
    TrueSeries const& one, double level, double pace, bool is_brief, Chance& chance) {
  if (one.series.metric == Metric::latency) return times(level * pace, one.noise, is_brief, chance);
  if (one.series.metric == Metric::leak && !is_brief)
    return {level, std::vector<double>(leak_differences, level)};
  return {level, {level}};
}

}  // namespace

Processes::Processes(Suite const& suite, Hosts const& hosts, std::size_t night) : suite_{suite} {
  for (auto const& fleet : suite.fleets)
    hosts_[fleet] = {hosts.fingerprint(fleet, night), hosts.pace(fleet, night)};
}

std::vector<JobOutcome> Processes::round(Measured const& benchmark,
                                         std::vector<Runner> const& builds,
                                         int number,
                                         Occasion const& when,
                                         Chance& chance) const {
  auto const& [fleet, name] = benchmark.which;
  // What neighbours in time have in common.
  auto const& host = hosts_.at(fleet);
  double const pace = host.pace * std::exp(0.004 * chance.normal());
  auto const seed = static_cast<std::uint32_t>(chance.below(std::size_t{1} << 32U));
  auto const first = static_cast<int>(chance.below(builds.size()));
  std::vector<JobOutcome> outcomes;
  for (auto const& build : builds) {
    auto& outcome = outcomes.emplace_back();
    outcome.key = {build.campaign, fleet, name, build.commit, number};
    outcome.version = build.version;
    outcome.fingerprint = host.fingerprint;
    outcome.seconds = rounded(chance.between(18, 75));
    outcome.finished_at = when.at;
    outcome.seed = seed;
    outcome.place = (first + static_cast<int>(outcomes.size())) % static_cast<int>(builds.size());
    if (build.is_broken) {
      outcome.error_code = JobError::crashed;
      outcome.error = "worker ended by signal 11 (segmentation fault)";
      continue;
    }
    for (auto const series : benchmark.series) {
      auto const& one = suite_.series[series];
      outcome.values[one.series.metric] =
          measured(one, build.level(one), pace, when.is_brief, chance);
    }
    add_accounts(outcome);
  }
  return outcomes;
}

}  // namespace torchwatch::years
