#include "runner/worker/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "runner/worker/counting_allocator.h"
#include "runner/worker/gpu.h"
#include "runner/worker/host.h"
#include "runner/worker/job.h"
#include "runner/worker/operator_profile.h"
#include "runner/worker/statistics.h"
#include "runner/worker/trace.h"
#include "runner/worker/warm_up.h"

namespace torchwatch::worker {
namespace {

using protocol::Job;
using protocol::Value;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Milliseconds of `iterations` steps, until the device is done with the last one.
double time_steps(suite::Workload& workload, Target const& target, int iterations) {
  auto const start = Clock::now();
  for (int i = 0; i < iterations; ++i)
    workload.step();
  if (target.setup.device.is_cuda()) gpu::synchronize();
  return milliseconds_since(start);
}

/// Warms up until steps get no faster, and says how many of them make a run that lasts at least
/// min_run_ms.
int warm_up(suite::Workload& workload,
            Target const& target,
            Job const& job,
            Listener const& listener) {
  WarmUp warming(job.measure.warmup);
  while (!warming.is_over()) {
    listener("warmup", warming.steps(), WarmUp::most_steps);
    warming.add(time_steps(workload, target, 1));
  }
  constexpr double most = 1e6;
  return static_cast<int>(
      std::clamp(std::ceil(job.measure.min_run_ms / warming.fastest()), 1.0, most));
}

Value measure_latency(Target const& target,
                      Job const& job,
                      Listener const& listener,
                      Semaphore const& semaphore) {
  semaphore();
  listener("build", 0, 1);
  auto const workload = build(target, job);
  int const iterations = warm_up(*workload, target, job, listener);
  Value latency;
  for (int run = 0; run < job.measure.runs; ++run) {
    listener("latency", run, job.measure.runs);
    semaphore();
    // Whoever had the turn before left the caches full of its own. A step that is a run by itself
    // is long enough not to notice.
    if (job.takes_turns && iterations > 1) time_steps(*workload, target, 1);
    latency.samples.push_back(time_steps(*workload, target, iterations) / iterations);
  }
  semaphore();
  latency.value = median(latency.samples);
  latency.outliers = outliers(latency.samples);
  return latency;
}

/// Differences of neighbours: what each iteration kept.
std::vector<double> steps_of(std::vector<double> const& values) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < values.size(); ++i)
    steps.push_back(values[i] - values[i - 1]);
  return steps;
}

Value exactly(std::int64_t bytes) {
  auto const value = static_cast<double>(bytes);
  return {value, {value}, {}};
}

/// Adds the memory metrics and the device's other accounts of the same memory to `outcome`. Peaks
/// are those of iterating: what building needed for a moment does not count.
void measure_memory(Target const& target,
                    Job const& job,
                    Listener const& listener,
                    protocol::Outcome& outcome) {
  bool const on_gpu = target.setup.device.is_cuda();
  if (on_gpu) gpu::release_cache();
  AllocationCount count;
  listener("memory", 0, 1);
  auto const workload = build(target, job);
  count.reset_peak();
  if (on_gpu) gpu::reset_peaks();
  time_steps(*workload, target, job.measure.warmup);

  listener("leak", 0, job.measure.leak_iterations);
  std::vector<double> live;
  for (int i = 0; i < job.measure.leak_iterations; ++i) {
    time_steps(*workload, target, 1);
    live.push_back(static_cast<double>(count.live_bytes()));
  }
  outcome.metrics["cmem"] = exactly(count.peak_bytes());
  if (!on_gpu) {
    // Pools that fill and caches that breathe are no leak.
    outcome.metrics["leak"] = {has_trend(live) ? slope(live) : 0, steps_of(live), {}};
    return;
  }
  auto const memory = gpu::memory();
  outcome.metrics["gmem"] = exactly(memory.allocated);
  outcome.accounts["gpu_reserved_peak_bytes"] = static_cast<double>(memory.reserved);
  outcome.accounts["gpu_device_used_bytes"] = static_cast<double>(memory.device_used);
}

std::vector<protocol::OperatorCost> profile_operators(suite::Workload& workload,
                                                      AllocationCount const& count,
                                                      Target const& target,
                                                      int runs) {
  OperatorProfile const profile(count);
  for (int run = 0; run < runs; ++run)
    time_steps(workload, target, 1);
  return profile.costs(runs);
}

/// Adds where the time of an iteration goes to `outcome`, which has its latency.
void measure_profile(Target const& target,
                     Job const& job,
                     Listener const& listener,
                     protocol::Outcome& outcome) {
  AllocationCount const count;
  listener("profile", 0, 1);
  auto const workload = build(target, job);
  time_steps(*workload, target, job.measure.warmup);
  outcome.profile = profile_operators(*workload, count, target, job.measure.runs);
  if (!target.setup.device.is_cuda()) return;
  auto const split = trace_gpu([&] { time_steps(*workload, target, job.measure.runs); });
  outcome.accounts["gpu_active_share"] = split.active;
  outcome.accounts["gpu_data_movement_share"] = split.data_movement;
  outcome.accounts["gpu_idle_share"] = split.idle;
  double const flops = count_flops([&] { time_steps(*workload, target, 1); });
  double const seconds = outcome.metrics.at("latency").value / 1e3;
  outcome.accounts["tflops"] = flops / seconds / 1e12;
}

}  // namespace

protocol::Outcome measure(Job const& job, Listener const& listener, Semaphore const& semaphore) {
  auto const start = Clock::now();
  auto const target = resolve(job);
  set_threads(job.measure.threads);
  gpu::allow_tf32(job.measure.tf32);

  protocol::Outcome outcome;
  outcome.id = job.id;
  outcome.benchmark = job.benchmark;
  outcome.pytorch_version = pytorch_version();
  outcome.git_hash = git_hash();
  outcome.fingerprint = fingerprint();
  outcome.metrics["latency"] = measure_latency(target, job, listener, semaphore);
  measure_memory(target, job, listener, outcome);
  outcome.accounts["rss_peak_bytes"] = static_cast<double>(peak_resident_bytes());
  if (job.measure.profile) measure_profile(target, job, listener, outcome);
  outcome.seconds = milliseconds_since(start) / 1000;
  return outcome;
}

}  // namespace torchwatch::worker
