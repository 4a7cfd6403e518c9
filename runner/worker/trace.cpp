#include "runner/worker/trace.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <unordered_set>
#include <vector>

#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler_kineto.h>

namespace torchwatch::worker {
namespace {

namespace profiler = torch::autograd::profiler;
using at::RecordScope;
using torch::profiler::impl::ActivityType;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;
using Scopes = std::unordered_set<RecordScope>;

/// The name of a span that the host records, so that it uses the same clock as the device events.
constexpr auto stretch = "torchwatch::stretch";

// Events have microseconds up to PyTorch 2.3, and nanoseconds since then.
template <class Event>
auto begin_ns(Event const& event, int) -> decltype(static_cast<std::int64_t>(event.startNs())) {
  return static_cast<std::int64_t>(event.startNs());
}

template <class Event>
auto begin_ns(Event const& event, long) -> decltype(static_cast<std::int64_t>(event.startUs())) {
  return static_cast<std::int64_t>(event.startUs()) * 1000;
}

template <class Event>
auto duration_ns(Event const& event, int) -> decltype(static_cast<double>(event.durationNs())) {
  return static_cast<double>(event.durationNs());
}

template <class Event>
auto duration_ns(Event const& event, long) -> decltype(static_cast<double>(event.durationUs())) {
  return static_cast<double>(event.durationUs()) * 1e3;
}

using Events = std::vector<profiler::KinetoEvent>;

/// Returns the begin of the first event. Subtracted before conversion: a double resolves the time
/// since 1970 to only 0.25 us, and kernels take 2 us.
std::int64_t first_ns(Events const& events) {
  auto first = std::numeric_limits<std::int64_t>::max();
  for (auto const& event : events)
    first = std::min(first, begin_ns(event, 0));
  return first;
}

std::unique_ptr<profiler::ProfilerResult> profile(std::set<ActivityType> const& activities,
                                                  Scopes const& scopes,
                                                  bool with_flops,
                                                  std::function<void()> const& work) {
  ProfilerConfig const config(ProfilerState::KINETO, with_flops, false, false, with_flops);
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities, scopes);
  try {
    work();
  } catch (...) {
    profiler::disableProfiler();
    throw;
  }
  return profiler::disableProfiler();
}

Scopes scopes_of(bool with_operators) {
  if (!with_operators) return {RecordScope::USER_SCOPE};
  return {RecordScope::USER_SCOPE, RecordScope::FUNCTION, RecordScope::BACKWARD_FUNCTION};
}

bool is_of_host(profiler::KinetoEvent const& event) {
  return event.deviceType() == c10::DeviceType::CPU;
}

/// Kineto's ActivityType::CPU_OP. Not every LibTorch contains its header.
constexpr std::uint8_t cpu_operator = 0;

/// True for an operator. Calls of CUDA's libraries also happen on the host, but have ids of another
/// kind, which can equal those of operators.
bool is_of_operator(profiler::KinetoEvent const& event) {
  return is_of_host(event) && event.activityType() == cpu_operator;
}

Trace trace_of(Events const& events, c10::DeviceType type) {
  auto const first = first_ns(events);
  Trace trace;
  for (auto const& event : events) {
    double const begin = static_cast<double>(begin_ns(event, 0) - first) / 1e6;
    double const end = begin + duration_ns(event, 0) / 1e6;
    // The device's events contain the span, too, from the first kernel to the last.
    bool const is_stretch = event.name() == stretch;
    if (is_stretch && is_of_host(event)) {
      trace.begin = begin;
      trace.end = end;
    } else if (is_of_operator(event)) {
      trace.operators.push_back({event.name(), event.correlationId()});
    } else if (!is_stretch && event.deviceType() == type) {
      trace.events.push_back({event.name(), begin, end, event.linkedCorrelationId()});
    }
  }
  return trace;
}

}  // namespace

Trace trace_device(c10::DeviceType type,
                   std::function<void()> const& before,
                   std::function<void()> const& steps,
                   bool with_operators) {
  std::set<ActivityType> const activities{ActivityType::CPU, ActivityType::CUDA};
  auto const result = profile(activities, scopes_of(with_operators), false, [&] {
    before();
    RECORD_USER_SCOPE(stretch);
    steps();
  });
  return trace_of(result->events(), type);
}

double count_flops(std::function<void()> const& steps) {
  auto const result = profile({ActivityType::CPU}, {RecordScope::FUNCTION}, true, steps);
  double flops = 0;
  for (auto const& event : result->events())
    flops += static_cast<double>(event.flops());
  return flops;
}

}  // namespace torchwatch::worker
