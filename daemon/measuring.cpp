#include "daemon/measuring.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/levels.h"
#include "config/value.h"
#include "runner/catalogue/catalogue.h"

namespace torchwatch {
namespace {

/// Death may be an accident; a limit that was reached, or a model that is not there, will be so
/// again.
bool may_pass(std::string const& code) {
  for (auto const* const transient : {"crashed", "protocol", "launch", "lost"})
    if (code == transient) return true;
  return false;
}

void tell(JobOutcome const& outcome) {
  if (!outcome.ok()) return;
  auto const latency = outcome.values.find(Metric::latency);
  spdlog::info(
      "measured campaign={} benchmark={} commit={} round={} latency_ms={:.3f} seconds={:.1f}",
      outcome.key.campaign,
      name_of(outcome.key.benchmark),
      short_of(outcome.key.commit),
      outcome.key.round,
      latency == outcome.values.end() ? 0.0 : latency->second.value,
      outcome.seconds);
}

void tell_failure(JobOutcome const& outcome, int attempt, int attempts) {
  spdlog::warn("job_failed campaign={} benchmark={} commit={} attempt={}/{} code={} reason=\"{}\"",
               outcome.key.campaign,
               name_of(outcome.key.benchmark),
               short_of(outcome.key.commit),
               attempt,
               attempts,
               outcome.error_code,
               outcome.error);
}

std::string worker_for(config::MeasureOptions const& options, Build const& build) {
  if (build.prefix.empty()) return options.worker;
  auto const own = std::filesystem::path{build.prefix} / "bin" / "torchwatch-worker";
  return std::filesystem::exists(own) ? own.string() : options.worker;
}

/// Whether the worker may have it: it is the one to say what it does not know.
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
  job.measure.tf32 = suite.tf32;
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
    outcome.error_code = failure->code;
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

std::optional<std::vector<JobOutcome>> Measuring::stored(std::vector<JobKey> const& keys) const {
  std::vector<JobOutcome> outcomes;
  for (auto const& key : keys) {
    auto known = store_.jobs().find(key);
    if (!known) return std::nullopt;
    outcomes.push_back(std::move(*known));
  }
  return outcomes;
}

boost::asio::awaitable<std::vector<JobOutcome>> Measuring::round(Lease& lease,
                                                                 RoundKey key,
                                                                 std::vector<Build> builds) {
  std::vector<JobKey> keys;
  for (auto const& build : builds) {
    auto const& commit = build.manifest.commit;
    bool const again = std::ranges::find(keys, commit, &JobKey::commit) != keys.end();
    keys.push_back({again ? key.campaign + "/again" : key.campaign,
                    lease.fleet(),
                    key.benchmark,
                    commit,
                    key.round});
  }
  if (auto known = stored(keys)) co_return std::move(*known);
  std::vector<protocol::Job> jobs;
  for (auto const& build : builds) {
    auto& job = jobs.emplace_back(job_for(options_, suite_, key.benchmark, build));
    job.measure.profile = key.profile;
  }
  std::vector<JobOutcome> outcomes;
  for (int attempt = 1; attempt <= options_.attempts; ++attempt) {
    outcomes = co_await this->attempt(lease, keys, jobs, attempt);
    if (std::ranges::none_of(outcomes,
                             [](auto const& outcome) { return may_pass(outcome.error_code); }))
      break;
  }
  store_.jobs().record(outcomes);
  for (auto const& outcome : outcomes)
    tell(outcome);
  co_return outcomes;
}

boost::asio::awaitable<std::vector<JobOutcome>> Measuring::attempt(Lease& lease,
                                                                   std::vector<JobKey> const& keys,
                                                                   std::vector<protocol::Job> jobs,
                                                                   int attempt) {
  protocol::Round round{std::move(jobs)};
  for (std::size_t i = 0; i < keys.size(); ++i)
    round.jobs[i].id = keys[i].campaign + "/" + std::to_string(keys[i].round) + "." +
                       std::to_string(attempt) + "/" + short_of(keys[i].commit);
  // Whoever is first in every round may have an advantage.
  bool const backwards = keys.front().round % 2 == 1;
  if (backwards) std::ranges::reverse(round.jobs);
  Lease::OnProgress on_progress = [](protocol::Progress const& progress) {
    spdlog::debug("job_progress job={} phase={}", progress.id, progress.phase);
  };
  auto answers = co_await lease.run(std::move(round), std::move(on_progress));
  if (backwards) std::ranges::reverse(answers);
  std::vector<JobOutcome> outcomes;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const& outcome = outcomes.emplace_back(outcome_from(keys[i], answers[i], clock_.now()));
    if (!outcome.ok()) tell_failure(outcome, attempt, options_.attempts);
  }
  co_return outcomes;
}

}  // namespace torchwatch
