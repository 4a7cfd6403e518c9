#include "daemon/nightly/swept.h"

#include <algorithm>

#include "storage/domain/campaign.h"

namespace torchwatch::nightly {

std::vector<measure::SeriesGroup> swept(storage::Store& store,
                                        Nightly const& nightly,
                                        std::vector<config::FleetOptions> const& fleets) {
  std::vector<Series> series;
  for (auto const& job : store.jobs().values_of(Campaign::of(nightly.id), 1)) {
    bool const is_its = job.key.commit == nightly.commit && job.values.contains(Metric::latency);
    if (is_its && std::ranges::count(fleets, job.key.fleet, &config::FleetOptions::name) > 0)
      series.push_back({job.key.fleet, job.key.benchmark, Metric::latency});
  }
  return measure::by_benchmark(series);
}

}  // namespace torchwatch::nightly
