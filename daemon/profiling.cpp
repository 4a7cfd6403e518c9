#include "daemon/profiling.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "daemon/build_manifest.h"

namespace torchwatch {
namespace {

/// Enough for a report.
constexpr std::size_t most_benchmarks = 5;

/// A change from zero is more than any ratio.
double size_of(SeriesChange const& change) {
  auto const& ratio = change.comparison.ratio;
  return ratio ? ratio->ratio : std::numeric_limits<double>::infinity();
}

/// One series of each benchmark, those that moved most first.
std::vector<Series> benchmarks_of(Incident incident) {
  std::ranges::stable_sort(incident.changes, std::ranges::greater{}, size_of);
  std::vector<Series> benchmarks;
  for (auto const& change : incident.changes) {
    bool const is_known = std::ranges::any_of(benchmarks, [&](Series const& series) {
      return series.fleet == change.series.fleet && series.benchmark == change.series.benchmark;
    });
    if (!is_known && benchmarks.size() < most_benchmarks) benchmarks.push_back(change.series);
  }
  return benchmarks;
}

}  // namespace

boost::asio::awaitable<void> profile_incident(storage::Store& store,
                                              Fleets& fleets,
                                              Measuring& measuring,
                                              Incident incident) {
  auto const before = read_build(store.nightlies().find(incident.baseline).value().prefix);
  auto const after = read_build(store.nightlies().find(incident.nightly).value().prefix);
  if (!before || !after) {
    spdlog::warn("profile_skipped incident={} reason=\"{}\"",
                 incident.id.value,
                 (before ? after : before).error().message);
    co_return;
  }
  for (auto const& series : benchmarks_of(incident)) {
    auto* const fleet = fleets.find(series.fleet);
    if (fleet == nullptr) continue;
    auto lease = co_await fleet->lease();
    RoundKey key{profile_campaign_of(incident.id), series.benchmark, 0, true};
    std::vector<Build> builds{*before, *after};
    co_await measuring.round(lease, std::move(key), std::move(builds));
    spdlog::info("profiled incident={} fleet={} benchmark={}",
                 incident.id.value,
                 series.fleet,
                 name_of(series.benchmark));
  }
}

}  // namespace torchwatch
