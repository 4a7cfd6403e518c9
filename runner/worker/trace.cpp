#include "runner/worker/trace.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <torch/csrc/autograd/profiler_kineto.h>

namespace torchwatch::worker {
namespace {

namespace profiler = torch::autograd::profiler;
using Clock = std::chrono::steady_clock;
using torch::profiler::impl::ActivityType;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;

// Until PyTorch 2.3 events had microseconds, since then they have nanoseconds.
template <class Event>
auto begin_ms(Event const& event, int) -> decltype(static_cast<double>(event.startNs())) {
  return static_cast<double>(event.startNs()) / 1e6;
}

template <class Event>
auto begin_ms(Event const& event, long) -> decltype(static_cast<double>(event.startUs())) {
  return static_cast<double>(event.startUs()) / 1e3;
}

template <class Event>
auto duration_ms(Event const& event, int) -> decltype(static_cast<double>(event.durationNs())) {
  return static_cast<double>(event.durationNs()) / 1e6;
}

template <class Event>
auto duration_ms(Event const& event, long) -> decltype(static_cast<double>(event.durationUs())) {
  return static_cast<double>(event.durationUs()) / 1e3;
}

std::unique_ptr<profiler::ProfilerResult> profile(std::set<ActivityType> const& activities,
                                                  bool with_flops,
                                                  std::function<void()> const& steps) {
  ProfilerConfig const config(ProfilerState::KINETO, with_flops, false, false, with_flops);
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities, {at::RecordScope::FUNCTION});
  try {
    steps();
  } catch (...) {
    profiler::disableProfiler();
    throw;
  }
  return profiler::disableProfiler();
}

/// As CUPTI's events are named: "Memcpy HtoD (Pageable -> Device)".
bool moves_data(std::string const& name) {
  return name.starts_with("Memcpy HtoD") || name.starts_with("Memcpy DtoH");
}

}  // namespace

TimeSplit trace_gpu(std::function<void()> const& steps) {
  double wall_ms = 0;
  auto const result = profile({ActivityType::CUDA}, false, [&] {
    auto const start = Clock::now();
    steps();
    wall_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  });
  std::vector<GpuWork> work;
  for (auto const& event : result->events()) {
    if (event.deviceType() != c10::DeviceType::CUDA) continue;
    double const begin = begin_ms(event, 0);
    work.push_back({begin, begin + duration_ms(event, 0), moves_data(event.name())});
  }
  return split_time(std::move(work), wall_ms);
}

double count_flops(std::function<void()> const& steps) {
  auto const result = profile({ActivityType::CPU}, true, steps);
  double flops = 0;
  for (auto const& event : result->events())
    flops += static_cast<double>(event.flops());
  return flops;
}

}  // namespace torchwatch::worker
