#include "runner/worker/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

#include "runner/worker/counting_allocator.h"
#include "runner/worker/elapsed.h"
#include "runner/worker/gpu.h"
#include "runner/worker/host.h"
#include "runner/worker/job.h"
#include "runner/worker/operator_profile.h"
#include "runner/worker/statistics.h"
#include "runner/worker/time_split.h"
#include "runner/worker/warm_up.h"

namespace torchwatch::worker {
namespace {

using protocol::Job;
using protocol::Value;
using Clock = std::chrono::steady_clock;

/// Returns the milliseconds of `iterations` steps, until the device has finished the last one.
double time_steps(suite::Workload& workload, Target const& target, int iterations) {
  auto const start = Clock::now();
  for (int i = 0; i < iterations; ++i)
    workload.step();
  target.device->synchronize();
  return milliseconds_since(start);
}

/// The shortest warm-up of a device that works asynchronously. Its clocks adapt slowly to its load.
constexpr double device_warm_up_ms = 1000;

constexpr double most_iterations = 1e6;

/// Returns the number of steps of a run that lasts at least min_run_ms, when one takes `step_ms`.
int iterations_for(double step_ms, Job const& job) {
  return static_cast<int>(
      std::clamp(std::ceil(job.measure.min_run_ms / step_ms), 1.0, most_iterations));
}

/// Returns the number of steps of a run that lasts at least min_run_ms on an asynchronous device.
/// Tries it out, because steps overlap with the host's work: a step among others is shorter than a
/// step that is waited for.
int piped_iterations(suite::Workload& workload, Target const& target, Job const& job, int alone) {
  constexpr double to_spare = 1.1;
  int piped = alone;
  while (piped < most_iterations) {
    double const ms = time_steps(workload, target, piped);
    if (ms >= job.measure.min_run_ms) break;
    piped = iterations_for(ms / (to_spare * piped), job);
  }
  return piped;
}

/// Warms up until steps get no faster. Returns the number of steps of a run that lasts at least
/// min_run_ms.
int warm_up(suite::Workload& workload,
            Target const& target,
            Job const& job,
            Listener const& listener) {
  WarmUp warming(job.measure.warmup, target.device->is_apart() ? device_warm_up_ms : 0);
  while (!warming.is_over()) {
    listener("warmup", warming.steps(), WarmUp::most_steps);
    warming.add(time_steps(workload, target, 1));
  }
  int const alone = iterations_for(warming.fastest(), job);
  return target.device->is_apart() ? piped_iterations(workload, target, job, alone) : alone;
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
    // The previous worker left its own data in the caches. A run of one step is so long that this
    // does not matter.
    if (job.takes_turns && iterations > 1) time_steps(*workload, target, 1);
    latency.samples.push_back(time_steps(*workload, target, iterations) / iterations);
  }
  semaphore();
  latency.value = median(latency.samples);
  latency.outliers = outliers(latency.samples);
  return latency;
}

/// Returns the differences of neighbours: the memory that each iteration kept.
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

/// Returns the slope of live memory if it has a trend, else 0. Filling pools and varying caches
/// also give slopes, but no trend.
Value leak_of(std::vector<double> const& live) {
  return {has_trend(live) ? slope(live) : 0, steps_of(live), {}};
}

void add_device_memory(DeviceMemory const& memory, protocol::Outcome& outcome) {
  outcome.metrics["gmem"] = exactly(memory.allocated_peak);
  auto const account = [&outcome](char const* name, std::optional<std::int64_t> bytes) {
    if (bytes) outcome.accounts[name] = static_cast<double>(*bytes);
  };
  account("gpu_reserved_peak_bytes", memory.reserved_peak);
  account("gpu_requested_peak_bytes", memory.requested_peak);
  account("gpu_device_used_bytes", memory.device_used);
}

/// Returns the memory that tensors requested, now. A block of the allocator can be up to a MiB
/// larger than its tensor, so sums of blocks vary even without a leak.
std::int64_t live_bytes(Device& device, AllocationCount const& count) {
  if (!device.is_apart()) return count.live_bytes();
  auto const memory = device.memory();
  return memory.requested.value_or(memory.allocated);
}

/// Adds the memory metrics, and the device's other values of memory, to `outcome`. Peaks are those
/// of iterations, without building the model.
void measure_memory(Target const& target,
                    Job const& job,
                    Listener const& listener,
                    protocol::Outcome& outcome) {
  auto& device = *target.device;
  device.release_cache();
  AllocationCount count;
  listener("memory", 0, 1);
  auto const workload = build(target, job);
  count.reset_peak();
  device.reset_peaks();
  time_steps(*workload, target, job.measure.warmup);

  listener("leak", 0, job.measure.leak_iterations);
  std::vector<double> live;
  for (int i = 0; i < job.measure.leak_iterations; ++i) {
    time_steps(*workload, target, 1);
    live.push_back(static_cast<double>(live_bytes(device, count)));
  }
  listener("leak", job.measure.leak_iterations, job.measure.leak_iterations);
  outcome.metrics["cmem"] = exactly(count.peak_bytes());
  outcome.metrics["leak"] = leak_of(live);
  if (device.is_apart()) add_device_memory(device.memory(), outcome);
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

/// Adds the shares of time and the operator costs of an iteration on a device. When the trace has
/// no events there are no shares. "gpu_trace_events" shows that.
void trace_steps(suite::Workload& workload,
                 Target const& target,
                 Job const& job,
                 protocol::Outcome& outcome) {
  auto const before = [&] {
    time_steps(workload, target, job.measure.warmup);
  };
  auto const steps = [&] {
    time_steps(workload, target, job.measure.runs);
  };
  auto const trace = target.device->trace(before, steps, Traced::device_work);
  outcome.accounts["gpu_trace_events"] = static_cast<double>(trace.events.size());
  if (auto const split = split_time(trace)) {
    outcome.accounts["gpu_active_share"] = split->active;
    outcome.accounts["gpu_data_movement_share"] = split->data_movement;
    outcome.accounts["gpu_idle_share"] = split->idle;
  }
  outcome.profile =
      device_costs(target.device->trace(before, steps, Traced::operators), job.measure.runs);
  double const flops = count_flops([&] { time_steps(workload, target, 1); });
  double const seconds = outcome.metrics.at("latency").value / 1e3;
  outcome.accounts["tflops"] = flops / seconds / 1e12;
}

/// Adds the operator costs of an iteration to `outcome`, which must contain the latency.
void measure_profile(Target const& target,
                     Job const& job,
                     Listener const& listener,
                     protocol::Outcome& outcome) {
  AllocationCount const count;
  listener("profile", 0, 1);
  auto const workload = build(target, job);
  time_steps(*workload, target, job.measure.warmup);
  if (target.device->is_apart())
    trace_steps(*workload, target, job, outcome);
  else
    outcome.profile = profile_operators(*workload, count, target, job.measure.runs);
}

}  // namespace

protocol::Outcome measure(Job const& job,
                          Devices const& devices,
                          Listener const& listener,
                          Semaphore const& semaphore) {
  auto const start = Clock::now();
  auto const target = resolve(job, devices);
  set_threads(job.measure.threads);
  set_tf32(target.tf32);

  protocol::Outcome outcome;
  outcome.id = job.id;
  outcome.benchmark = job.benchmark;
  outcome.pytorch_version = pytorch_version();
  outcome.git_hash = git_hash();
  outcome.fingerprint = fingerprint(devices);
  outcome.metrics["latency"] = measure_latency(target, job, listener, semaphore);
  measure_memory(target, job, listener, outcome);
  outcome.accounts["rss_peak_bytes"] = static_cast<double>(peak_resident_bytes());
  if (job.measure.profile) measure_profile(target, job, listener, outcome);
  outcome.seconds = milliseconds_since(start) / 1000;
  return outcome;
}

}  // namespace torchwatch::worker
