#include "daemon/nightly/operator_profile.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "daemon/builds/manifest.h"
#include "storage/domain/campaign.h"

namespace torchwatch::nightly {
namespace {

/// The number of benchmarks in a report.
constexpr std::size_t most_benchmarks = 5;

/// Returns one series per benchmark, those that became worst first.
std::vector<Series> most_changed(Incident incident) {
  std::vector<Series> benchmarks;
  for (auto const& change : worst_first(std::move(incident.changes))) {
    bool const is_known = std::ranges::any_of(benchmarks, [&](Series const& series) {
      return series.fleet == change.series.fleet && series.benchmark == change.series.benchmark;
    });
    if (!is_known && benchmarks.size() < most_benchmarks) benchmarks.push_back(change.series);
  }
  return benchmarks;
}

}  // namespace

boost::asio::awaitable<Result<>> profile_incident(storage::Store& store,
                                                  measure::Rounds& rounds,
                                                  Incident incident) {
  auto const before = builds::read_build_of(store.nightlies().find(incident.baseline).value());
  auto const after = builds::read_build_of(store.nightlies().find(incident.nightly).value());
  if (!before || !after) {
    spdlog::warn("profile_skipped incident={} reason=\"{}\"",
                 incident.id.value,
                 (before ? after : before).error().message);
    co_return Result<>{};
  }
  for (auto const& series : most_changed(incident)) {
    measure::RoundKey key{Campaign::profile(incident.id), series.fleet, series.benchmark, 0, true};
    std::vector<Build> builds{*before, *after};
    auto const measured = co_await rounds.measure(std::move(key), std::move(builds));
    bool const has_no_fleet =
        !measured && measured.error().code == ErrorCode::invalid_argument;  // it left since
    if (has_no_fleet) continue;
    if (!measured) co_return measured.error();
    spdlog::info("profiled incident={} fleet={} benchmark={}",
                 incident.id.value,
                 series.fleet,
                 name_of(series.benchmark));
  }
  co_return Result<>{};
}

}  // namespace torchwatch::nightly
