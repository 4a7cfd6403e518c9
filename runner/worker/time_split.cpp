#include "runner/worker/time_split.h"

#include <algorithm>

namespace torchwatch::worker {
namespace {

/// How much time at least one of `work`, sorted by begin, covers.
double covered(std::vector<GpuWork> const& work, bool with_movement) {
  double total = 0;
  double end = 0;
  bool any = false;
  for (auto const& one : work) {
    if (one.moves_data && !with_movement) continue;
    double const begin = any ? std::max(one.begin, end) : one.begin;
    total += std::max(one.end - begin, 0.0);
    end = any ? std::max(end, one.end) : one.end;
    any = true;
  }
  return total;
}

}  // namespace

TimeSplit split_time(std::vector<GpuWork> work, double wall_ms) {
  std::ranges::sort(
      work, [](GpuWork const& one, GpuWork const& other) { return one.begin < other.begin; });
  double const computing = covered(work, false);
  double const busy = covered(work, true);
  // Two clocks took these, and may differ by a little.
  double const whole = std::max(wall_ms, busy);
  return {computing / whole, (busy - computing) / whole, (whole - busy) / whole};
}

}  // namespace torchwatch::worker
