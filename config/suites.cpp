#include "config/suites.h"

#include <algorithm>

#include "config/value.h"

namespace torchwatch::config {

std::vector<SuiteOptions const*> all_suites(Options const& options) {
  std::vector<SuiteOptions const*> suites{&options.suite};
  for (auto const& suite : options.suites)
    if (!suite.is_native()) suites.push_back(&suite);
  return suites;
}

Result<SuiteOptions const*> find_suite(Options const& options, std::string const& name) {
  std::string allowed;
  for (auto const* const suite : all_suites(options)) {
    if (suite->name == name) return suite;
    allowed += (allowed.empty() ? "" : ", ") + found(suite->name);
  }
  return Error{ErrorCode::invalid_argument,
               "suite: found " + found(name) + ", allowed is one of " + allowed};
}

bool runs(FleetOptions const& fleet, SuiteOptions const& suite) {
  return fleet.suites.empty() || std::ranges::count(fleet.suites, suite.name) > 0;
}

std::vector<std::string> backends_of(SuiteOptions const& suite) {
  return suite.backends.empty() ? std::vector{suite.backend} : suite.backends;
}

MetricKind kind_of(MetricOptions const& metric) {
  MetricKind kind;
  kind.unit = metric.unit;
  kind.is_higher_better = metric.better == Better::higher;
  kind.is_exact = metric.kind == MetricNoise::exact;
  kind.threshold = metric.threshold;
  kind.floor = metric.floor;
  return kind;
}

MetricOptions options_of(MetricKind const& kind) {
  MetricOptions metric;
  metric.unit = kind.unit;
  metric.better = kind.is_higher_better ? Better::higher : Better::lower;
  metric.kind = kind.is_exact ? MetricNoise::exact : MetricNoise::noisy;
  metric.threshold = kind.threshold;
  metric.floor = kind.floor;
  return metric;
}

std::string description_of(MetricOptions const& metric) {
  auto text = metric.unit.empty() ? std::string{"no unit"} : metric.unit;
  text += metric.better == Better::higher ? ", higher is better" : ", lower is better";
  text += metric.kind == MetricNoise::exact ? ", exact" : ", noisy";
  if (metric.threshold != 0) text += ", threshold " + bound(metric.threshold).dump();
  if (metric.floor != 0) text += ", floor " + bound(metric.floor).dump();
  return text;
}

Result<> declare_metrics(Options const& options) {
  for (auto const* const suite : all_suites(options)) {
    for (auto const& [name, metric] : suite->metrics) {
      auto const declared = declare_metric(name, kind_of(metric));
      if (!declared) return within("suite " + suite->name, declared.error());
    }
  }
  return {};
}

}  // namespace torchwatch::config
