#include "daemon/measure/job.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "bisect/compare/levels.h"
#include "config/value.h"
#include "runner/catalogue/catalogue.h"

namespace torchwatch::measure {
namespace {

std::string worker_for(config::MeasureOptions const& options, Build const& build) {
  if (build.prefix.empty()) return options.worker;
  auto const own = std::filesystem::path{build.prefix} / "bin" / "torchwatch-worker";
  std::error_code ignored;  // for example, a circle of links has no canonical path
  return std::filesystem::exists(own, ignored) ? own.string() : options.worker;
}

/// True when the worker may have the test. For an unknown model, the worker itself reports what it
/// lacks.
bool has_test(std::string const& model, Test test) {
  auto const* const entry = suite::find_entry(model);
  if (entry == nullptr) return true;
  return (test == Test::train ? entry->full.train : entry->full.eval) > 0;
}

}  // namespace

std::vector<Benchmark> benchmarks_of(config::SuiteOptions const& suite, Device device) {
  std::vector<std::string> models;
  for (auto const& model : suite.models) {
    if (model != config::all_models)
      models.push_back(model);
    else
      for (auto const& entry : suite::catalogue())
        models.emplace_back(entry.name);
  }
  std::vector<Benchmark> benchmarks;
  for (auto const& model : models)
    for (auto const test : suite.tests)
      if (suite.backend != "eager" || has_test(model, test))
        benchmarks.push_back({model, test, device, suite.backend});
  return benchmarks;
}

protocol::Job job_for(config::MeasureOptions const& options,
                      config::SuiteOptions const& suite,
                      Benchmark const& benchmark,
                      Build const& build) {
  protocol::Job job;
  job.benchmark = name_of(benchmark);
  job.build.prefix = build.prefix;
  job.build.worker = worker_for(options, build);
  job.build.launcher = build.manifest.launcher;
  job.build.env = build.manifest.env;
  job.build.preload = build.manifest.preload;
  job.measure.runs = options.runs;
  job.measure.warmup = options.warmup;
  job.measure.min_run_ms = static_cast<double>(options.min_run.count());
  job.measure.threads = options.threads;
  job.measure.pin = options.pin;
  job.measure.leak_iterations = options.leak_iterations;
  job.measure.seed = options.seed;
  job.measure.scale = config::to_json(suite.scale);
  job.measure.precision = config::to_json(suite.precision);
  job.measure.tf32 = config::to_json(suite.tf32);
  job.measure.models = suite.files;
  job.limits.timeout_s = static_cast<double>(options.timeout.count());
  job.limits.memory_bytes = options.memory_mib << 20;
  return job;
}

JobOutcome outcome_from(JobKey key, protocol::Message const& answer, Timestamp now) {
  JobOutcome outcome;
  outcome.key = std::move(key);
  outcome.fingerprint = "{}";
  outcome.finished_at = now;
  if (auto const* failure = std::get_if<protocol::Failure>(&answer)) {
    // Codes from the worker itself mean that it failed.
    outcome.error_code = parse_job_error(failure->code).value_or(JobError::failed);
    outcome.error = failure->text;
    return outcome;
  }
  auto const& result = std::get<protocol::Outcome>(answer);
  for (auto const& [name, value] : result.metrics)
    if (auto const metric = parse_metric(name))
      outcome.values[*metric] = MetricValue{value.value, value.samples, value.outliers};
  outcome.accounts = result.accounts;
  for (auto const& [name, calls, ms, bytes] : result.profile)
    outcome.profile.push_back({name, calls, ms, bytes});
  outcome.version = result.pytorch_version;
  outcome.fingerprint = result.fingerprint.dump();
  outcome.seconds = result.seconds;
  return outcome;
}

std::string failure_of(JobOutcome const& outcome) {
  if (outcome.ok()) return {};
  return std::string{to_string(*outcome.error_code)} + ", " + outcome.error;
}

std::optional<std::vector<double>> levels_in(std::span<JobOutcome const> outcomes, Metric metric) {
  std::vector<std::vector<double>> runs;
  for (auto const& outcome : outcomes) {
    auto const found = outcome.values.find(metric);
    if (found == outcome.values.end()) return std::nullopt;
    auto const& measured = found->second;
    bool const is_value = is_deterministic(metric) || measured.samples.empty();
    runs.push_back(is_value ? std::vector{measured.value} : measured.samples);
  }
  return bisect::levels_of(runs);
}

}  // namespace torchwatch::measure
