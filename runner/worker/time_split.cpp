#include "runner/worker/time_split.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace torchwatch::worker {
namespace {

/// True for CUPTI's events of data movement: "Memcpy HtoD (Pageable -> Device)".
bool moves_data(std::string_view name) {
  return name.starts_with("Memcpy HtoD") || name.starts_with("Memcpy DtoH");
}

/// Returns the events in the stretch, cut at its ends, sorted by begin.
std::vector<DeviceEvent> events_within(Trace const& trace) {
  std::vector<DeviceEvent> within;
  for (auto event : trace.events) {
    event.begin = std::max(event.begin, trace.begin);
    event.end = std::min(event.end, trace.end);
    if (event.end > event.begin) within.push_back(std::move(event));
  }
  std::ranges::sort(within, {}, &DeviceEvent::begin);
  return within;
}

/// Returns the time that at least one of `events` covers. They must be sorted by begin.
double covered(std::vector<DeviceEvent> const& events, bool with_movement) {
  double total = 0;
  double end = events.front().begin;
  for (auto const& event : events) {
    if (moves_data(event.name) && !with_movement) continue;
    total += std::max(event.end - std::max(event.begin, end), 0.0);
    end = std::max(end, event.end);
  }
  return total;
}

}  // namespace

std::optional<TimeSplit> split_time(Trace const& trace) {
  auto const events = events_within(trace);
  if (events.empty()) return std::nullopt;
  double const computing = covered(events, false);
  double const busy = covered(events, true);
  double const whole = trace.end - trace.begin;
  return TimeSplit{computing / whole, (busy - computing) / whole, (whole - busy) / whole};
}

std::vector<protocol::OperatorCost> device_costs(Trace const& trace, int iterations) {
  std::unordered_map<std::uint64_t, std::string_view> names;
  for (auto const& call : trace.operators)
    names[call.id] = call.name;

  struct Cost {
    double launches = 0;
    double ms = 0;
  };

  std::map<std::string_view, Cost> costs;
  for (auto const& event : events_within(trace)) {
    auto const name = names.find(event.launched_by);
    auto& cost = costs[name == names.end() ? "(unknown)" : name->second];
    cost.launches += 1;
    cost.ms += event.end - event.begin;
  }
  std::vector<protocol::OperatorCost> list;
  for (auto const& [name, cost] : costs)
    list.push_back({std::string(name), cost.launches / iterations, cost.ms / iterations, 0});
  return list;
}

}  // namespace torchwatch::worker
