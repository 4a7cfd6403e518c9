#include "daemon/measuring.h"

#include <array>
#include <filesystem>
#include <utility>

#include <spdlog/spdlog.h>

namespace torchwatch {
namespace {

/// Death may be an accident; a limit that was reached, or a model that is not there, will be so
/// again.
bool may_pass(std::string const& code) {
  for (auto const* const transient : {"crashed", "protocol", "launch", "lost"})
    if (code == transient) return true;
  return false;
}

std::string worker_for(config::MeasureOptions const& options, Build const& build) {
  auto const own = std::filesystem::path{build.prefix} / "bin" / "torchwatch-worker";
  return std::filesystem::exists(own) ? own.string() : options.worker;
}

}  // namespace

protocol::Job job_for(config::MeasureOptions const& options,
                      config::Scale scale,
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
  job.measure.leak_iterations = options.leak_iterations;
  job.measure.seed = options.seed;
  job.measure.scale = scale == config::Scale::smoke ? "smoke" : "full";
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
      outcome.values[*metric] = MetricValue{value.value, value.samples};
  outcome.accounts = result.accounts;
  outcome.version = result.pytorch_version;
  outcome.fingerprint = result.fingerprint.dump();
  outcome.seconds = result.seconds;
  return outcome;
}

boost::asio::awaitable<JobOutcome> Measuring::outcome(Lease& lease,
                                                      JobKey key,
                                                      Build const& build) {
  if (auto known = store_.jobs().find(key)) co_return std::move(*known);
  auto const name = name_of(key.benchmark);
  JobOutcome outcome;
  for (int attempt = 1; attempt <= options_.attempts; ++attempt) {
    auto job = job_for(options_, scale_, key.benchmark, build);
    job.id = key.campaign + "/" + std::to_string(key.round) + "." + std::to_string(attempt);
    auto on_progress = [](protocol::Progress const& progress) {
      spdlog::debug("job_progress job={} phase={}", progress.id, progress.phase);
    };
    auto const answer = co_await lease.run(std::move(job), std::move(on_progress));
    outcome = outcome_from(key, answer, clock_.now());
    if (outcome.ok()) break;
    spdlog::warn(
        "job_failed campaign={} benchmark={} commit={} attempt={}/{} code={} reason=\"{}\"",
        key.campaign,
        name,
        short_of(key.commit),
        attempt,
        options_.attempts,
        outcome.error_code,
        outcome.error);
    if (!may_pass(outcome.error_code)) break;
  }
  store_.jobs().record(outcome);
  if (outcome.ok()) {
    auto const latency = outcome.values.find(Metric::latency);
    spdlog::info(
        "measured campaign={} benchmark={} commit={} round={} latency_ms={:.3f} seconds={:.1f}",
        key.campaign,
        name,
        short_of(key.commit),
        key.round,
        latency == outcome.values.end() ? 0.0 : latency->second.value,
        outcome.seconds);
  }
  co_return outcome;
}

}  // namespace torchwatch
