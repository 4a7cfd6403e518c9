#include "daemon/measure/job.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bisect/compare/levels.h"
#include "config/suites.h"
#include "config/value.h"
#include "runner/catalogue/catalogue.h"
#include "storage/base/printable.h"

namespace torchwatch::measure {
namespace {

/// The backend that compiles nothing, so that it needs no compile caches.
constexpr auto eager = "eager";

/// Returns the worker of a suite. A build's own worker measures only the native suite.
std::string worker_for(config::MeasureOptions const& options,
                       config::SuiteOptions const& suite,
                       Build const& build) {
  if (!suite.is_native() || !suite.worker.empty()) return suite.worker;
  if (build.prefix.empty()) return options.worker;
  auto const own = std::filesystem::path{build.prefix} / "bin" / "torchwatch-worker";
  std::error_code ignored;  // for example, a circle of links has no canonical path
  return std::filesystem::exists(own, ignored) ? own.string() : options.worker;
}

/// True when the native suite has the test. For an unknown model, the worker itself reports what it
/// lacks.
bool has_test(std::string const& model, Test const& test) {
  auto const* const entry = suite::find_entry(model);
  if (entry == nullptr) return true;
  return (test == Test::train ? entry->full.train : entry->full.eval) > 0;
}

std::vector<std::string> models_in(config::SuiteOptions const& suite) {
  std::vector<std::string> models;
  for (auto const& model : suite.models) {
    if (model != config::all_models)
      models.push_back(model);
    else
      for (auto const& entry : suite::catalogue())
        models.emplace_back(entry.name);
  }
  return models;
}

bool has_backend(config::SuiteOptions const& suite, Benchmark const& benchmark) {
  return std::ranges::count(config::backends_of(suite), benchmark.backend) > 0;
}

bool has_benchmark(config::SuiteOptions const& suite, Benchmark const& benchmark) {
  return std::ranges::count(models_in(suite), benchmark.model) > 0 &&
         std::ranges::count(suite.tests, benchmark.test) > 0 && has_backend(suite, benchmark);
}

/// Returns the names that a result must have. CPU benchmarks have no GPU memory.
std::vector<std::string> metrics_of(config::SuiteOptions const& suite, Device device) {
  std::vector<std::string> names;
  for (auto const& [name, metric] : suite.metrics)
    if (device != Device::cpu || name != to_string(Metric::gmem)) names.push_back(name);
  return names;
}

/// Returns the metrics of `names` that the suite declares as exact.
std::vector<std::string> exact_among(std::vector<std::string> names,
                                     config::SuiteOptions const& suite) {
  std::erase_if(names, [&suite](std::string const& name) {
    return suite.metrics.at(name).kind != config::MetricNoise::exact;
  });
  return names;
}

/// Returns the paths that processes of a suite may read: those that it names, and absolute paths in
/// its command. Of a path with a placeholder, that is the directory around it.
std::vector<std::string> readable_of(config::SuiteOptions const& suite) {
  auto paths = suite.readable;
  for (auto const& word : suite.command) {
    auto const placeholder = word.find('{');
    std::filesystem::path path{word.substr(0, placeholder)};
    if (placeholder != std::string::npos) path = path.parent_path();
    if (path.is_absolute() && path != path.root_path()) paths.push_back(path.string());
  }
  return paths;
}

/// Returns the commit of the checkout that a Python worker took its model from. Empty for others.
std::string commit_of_models(JobOutcome const& outcome) {
  auto const fingerprint = nlohmann::json::parse(outcome.fingerprint, nullptr, false);
  auto const commit = fingerprint.is_object() ? fingerprint.value("torchbench", nlohmann::json{})
                                              : nlohmann::json{};
  return commit.is_string() ? printable(commit.get<std::string>()) : std::string{};
}

}  // namespace

std::vector<Benchmark> benchmarks_of(config::SuiteOptions const& suite, Device device) {
  std::vector<Benchmark> benchmarks;
  for (auto const& model : models_in(suite))
    for (auto const& test : suite.tests)
      for (auto const& backend : config::backends_of(suite))
        if (!suite.is_native() || backend != eager || has_test(model, test))
          benchmarks.push_back({model, test, device, backend});
  return benchmarks;
}

std::vector<Benchmark> benchmarks_of(config::Options const& options,
                                     config::FleetOptions const& fleet) {
  std::vector<Benchmark> benchmarks;
  for (auto const* const suite : config::all_suites(options)) {
    if (!config::runs(fleet, *suite)) continue;
    auto const more = benchmarks_of(*suite, fleet.device);
    benchmarks.insert(benchmarks.end(), more.begin(), more.end());
  }
  return benchmarks;
}

config::SuiteOptions const& suite_of(config::Options const& options, Benchmark const& benchmark) {
  auto const suites = config::all_suites(options);
  for (auto const* const suite : suites)
    if (has_benchmark(*suite, benchmark)) return *suite;
  for (auto const* const suite : suites)
    if (has_backend(*suite, benchmark)) return *suite;
  return options.suite;
}

Result<> check_suites_differ(config::Options const& options) {
  for (auto const* const suite : config::all_suites(options)) {
    if (suite->is_native()) continue;
    for (auto const& benchmark : benchmarks_of(*suite, Device::cpu))
      if (has_benchmark(options.suite, benchmark))
        return Error{ErrorCode::invalid_argument,
                     "suite " + suite->name + ": found " + name_of(benchmark) +
                         ", which the suite native also has, allowed is each benchmark in one "
                         "suite; another backend makes another benchmark"};
  }
  return {};
}

protocol::Job job_for(config::MeasureOptions const& options,
                      config::SuiteOptions const& suite,
                      Benchmark const& benchmark,
                      Build const& build) {
  protocol::Job job;
  job.benchmark = name_of(benchmark);
  job.build.prefix = build.prefix;
  job.build.worker = worker_for(options, suite, build);
  job.build.launcher = build.manifest.launcher;
  job.build.env = build.manifest.env;
  for (auto const& [name, value] : suite.environment)
    job.build.env[name] = value;
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
  job.metrics = metrics_of(suite, benchmark.device);
  job.exact = exact_among(job.metrics, suite);
  job.command = suite.command;
  job.waits = suite.waits;
  job.readable = readable_of(suite);
  if (benchmark.backend != eager) job.caches.variables = suite.caches;
  job.caches.directory = build.caches;
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

void fail_if_models_moved(std::vector<JobOutcome>& outcomes) {
  std::set<std::string> commits;
  for (auto const& outcome : outcomes)
    if (outcome.ok()) commits.insert(commit_of_models(outcome));
  if (commits.size() < 2) return;
  auto const text = fmt::format(
      "the checkout of models: found the commits {}, allowed is one in a round; do not update it "
      "while it is measured",
      fmt::join(commits, " and "));
  for (auto& outcome : outcomes) {
    outcome.values.clear();
    outcome.error_code = JobError::failed;
    outcome.error = text;
  }
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
