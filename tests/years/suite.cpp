#include "tests/years/suite.h"

#include <array>
#include <cmath>
#include <map>

#include "runner/catalogue/catalogue.h"
#include "tests/years/chance.h"

namespace torchwatch::years {
namespace {

constexpr std::array measured_fleets{"cpu", "gpu"};

/// A fleet with another kind of CPU, used when two fleets have too few series.
constexpr auto third_fleet = "arm";

constexpr double kib = 1024;

double usual_level(Series const& series, Chance& chance) {
  double const training = series.benchmark.test == Test::train ? 2.5 : 1;
  bool const is_gpu = series.benchmark.device == Device::cuda;
  if (series.metric == Metric::latency)
    return training * (is_gpu ? chance.log_between(1.5, 120) : chance.log_between(3, 900));
  if (series.metric == Metric::cmem)
    return kib * std::round(training * chance.log_between(24e3, 3e6));
  if (series.metric == Metric::gmem)
    return kib * std::round(training * chance.log_between(200e3, 14e6));
  return 0;
}

/// Returns the models' names. The domains take turns, so that the first models cover many domains.
std::vector<std::string> names_by_turns(std::vector<suite::Entry> const& entries) {
  std::map<std::string_view, int> taken;
  std::multimap<int, std::string> by_turn;
  for (auto const& entry : entries)
    by_turn.emplace(taken[entry.domain]++, entry.name);
  std::vector<std::string> names;
  for (auto const& [turn, name] : by_turn)
    names.push_back(name);
  return names;
}

}  // namespace

FleetBenchmark benchmark_on(std::string const& fleet, std::string model, Test test) {
  return {fleet, {std::move(model), test, fleet == "gpu" ? Device::cuda : Device::cpu, "eager"}};
}

std::vector<Metric> metrics_on(Device device) {
  return {Metric::latency, Metric::cmem, device == Device::cpu ? Metric::leak : Metric::gmem};
}

Suite::Suite(std::uint64_t seed) {
  auto entries = suite::catalogue();
  std::erase_if(entries, [](suite::Entry const& entry) {
    return entry.full.train == 0 || entry.full.eval == 0;
  });
  Chance{seed, "models"}.shuffle(entries);
  models_ = names_by_turns(entries);
  for (auto const test : {Test::train, Test::eval})
    for (auto const* const fleet : measured_fleets)
      eventful_.push_back(benchmark_on(fleet, models_.front(), test));
}

std::vector<std::string> Suite::measured() const {
  return {models_.begin(), models_.begin() + quiet_at + 1};
}

std::vector<FleetModel> Suite::copies() const {
  std::vector<FleetModel> all;
  for (auto at = quiet_at + 1; at < models_.size(); ++at)
    for (auto const* const fleet : measured_fleets)
      all.push_back({fleet, models_[at]});
  for (auto const& model : models_)
    all.push_back({third_fleet, model});
  return all;
}

Usual usual_of(std::uint64_t seed, Series const& series) {
  Chance chance{seed, series.fleet + name_of(series)};
  return {usual_level(series, chance), chance.between(0.003, 0.008)};
}

}  // namespace torchwatch::years
