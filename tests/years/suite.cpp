#include "tests/years/suite.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "runner/catalogue/catalogue.h"
#include "tests/years/chance.h"

namespace torchwatch::years {
namespace {

struct FleetOf {
  std::string name;
  Device device;
};

std::vector<FleetOf> const all_fleets{
    {"cpu", Device::cpu}, {"gpu", Device::cuda}, {"arm", Device::cpu}};

/// As the worker reports them.
std::vector<Metric> metrics_on(Device device) {
  if (device == Device::cpu) return {Metric::latency, Metric::cmem, Metric::leak};
  return {Metric::latency, Metric::cmem, Metric::gmem};
}

std::vector<Test> tests_of(suite::Entry const& model) {
  std::vector<Test> tests;
  if (model.full.train > 0) tests.push_back(Test::train);
  if (model.full.eval > 0) tests.push_back(Test::eval);
  return tests;
}

std::size_t series_of(suite::Entry const& model, std::span<FleetOf const> fleets) {
  constexpr std::size_t metrics = 3;
  return tests_of(model).size() * metrics * fleets.size();
}

constexpr double grain = 64;  // what allocators round to

double drawn_base(Metric metric, Benchmark const& benchmark, Chance& chance) {
  double const training = benchmark.test == Test::train ? 2.5 : 1;
  switch (metric) {
    case Metric::latency:
      return training * (benchmark.device == Device::cpu ? chance.log_between(3, 900)
                                                         : chance.log_between(1.5, 120));
    case Metric::cmem:
      return grained(metric, training * chance.log_between(24e6, 3e9));
    case Metric::gmem:
      return grained(metric, training * chance.log_between(200e6, 14e9));
    case Metric::leak:
      return chance.happens(0.03) ? grain * static_cast<double>(chance.from_to(2, 600)) : 0;
  }
  return 0;
}

double drawn_noise(Metric metric, Chance& chance) {
  if (metric != Metric::latency) return 0;
  return chance.happens(0.06) ? chance.between(0.03, 0.06) : chance.between(0.006, 0.013);
}

/// What most commits do that do anything: less than the threshold, for good.
std::vector<Shift> small_steps(Metric metric, std::size_t nights, Chance& chance) {
  std::vector<Shift> steps;
  if (metric == Metric::leak) return steps;
  constexpr std::size_t shortest = 90;
  constexpr std::size_t longest = 500;
  double ratio = 1;
  for (auto at = chance.from_to(0, longest); at < nights; at += chance.from_to(shortest, longest)) {
    // Back to where it was, more or less: nobody lets a benchmark become twice as slow by that.
    double const factor = chance.between(0.97, 1.03) / (ratio > 1 ? 1.01 : 0.99);
    ratio *= factor;
    steps.push_back({at, never, factor});
  }
  return steps;
}

void add_benchmark(Suite& suite,
                   FleetBenchmark const& which,
                   Request const& request,
                   std::size_t nights) {
  Measured measured{which, {}};
  auto const& [fleet, benchmark] = which;
  for (auto const metric : metrics_on(benchmark.device)) {
    auto const place = suite.series.size();
    Chance chance{request.seed, "series", place};
    TrueSeries one{{fleet, benchmark, metric}};
    one.base = drawn_base(metric, benchmark, chance);
    one.noise = drawn_noise(metric, chance);
    one.shifts = small_steps(metric, nights, chance);
    measured.series.push_back(place);
    suite.series.push_back(std::move(one));
  }
  suite.benchmarks.push_back(std::move(measured));
}

std::vector<suite::Entry> shuffled_models(std::uint64_t seed) {
  auto models = suite::catalogue();
  Chance{seed, "models"}.shuffle(models);
  return models;
}

/// With as few fleets as will do; more than all models have when none will.
std::span<FleetOf const> fleets_for(std::size_t wanted) {
  std::span<FleetOf const> const all{all_fleets};
  for (std::size_t fleets = 2; fleets < all.size(); ++fleets) {
    std::size_t count = 0;
    for (auto const& model : suite::catalogue())
      count += series_of(model, all.first(fleets));
    if (count >= wanted) return all.first(fleets);
  }
  return all;
}

}  // namespace

double grained(Metric metric, double level) {
  return metric == Metric::latency ? level : std::round(level / grain) * grain;
}

double level_of(TrueSeries const& one, std::size_t night) {
  double factor = 1;
  double added = 0;
  for (auto const& shift : one.shifts) {
    if (night < shift.from || night >= shift.until) continue;
    factor *= shift.factor;
    added += shift.added;
  }
  for (auto const& drift : one.drifts) {
    if (night < drift.from) continue;
    double const share =
        static_cast<double>(night - drift.from) / static_cast<double>(drift.nights);
    factor *= std::pow(drift.factor, std::min(1.0, share));
  }
  return grained(one.series.metric, one.base * factor + added);
}

Result<Suite> suite_of(Request const& request, std::size_t nights) {
  Suite suite;
  auto const fleets = fleets_for(request.series);
  for (auto const& fleet : fleets)
    suite.fleets.push_back(fleet.name);
  for (auto const& model : shuffled_models(request.seed)) {
    if (suite.series.size() >= request.series) break;
    suite.models.emplace_back(model.name);
    for (auto const& fleet : fleets)
      for (auto const test : tests_of(model))
        add_benchmark(suite,
                      {fleet.name, {suite.models.back(), test, fleet.device, "eager"}},
                      request,
                      nights);
  }
  if (suite.series.size() >= request.series) return suite;
  return Error{ErrorCode::invalid_argument,
               fmt::format("--series: found {}, allowed up to {}: all models, tests and fleets",
                           request.series,
                           suite.series.size())};
}

}  // namespace torchwatch::years
