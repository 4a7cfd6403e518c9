#include "daemon/bisection/build_variation.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "bisect/search/build_variation.h"
#include "daemon/measure/pairs.h"

namespace torchwatch::bisection {
namespace {

/// The number of proofs per fleet, and of nightlies, that are read: over the years, builds change.
constexpr int newest = 20;

constexpr int all_rounds = std::numeric_limits<int>::max();

using Differences = std::map<std::string, std::vector<bisect::BuildDifference>>;

std::vector<bisect::Pair> pairs_of_proof(storage::Store& store,
                                         Campaign const& campaign,
                                         storage::ProvedTwice const& proved) {
  auto measured = store.jobs().values_of(campaign, all_rounds);
  return measure::pairs_of(std::move(measured), proved.suspect, all_rounds)[proved.series];
}

void add_proofs(storage::Store& store, Differences& differences) {
  for (auto const& proved : store.bisections().proved_twice(newest)) {
    BisectionCampaigns const campaigns{proved.bisection, proved.recipe};
    auto const difference = bisect::difference_of(
        pairs_of_proof(store, campaigns.proof(proved.suspect), proved),
        pairs_of_proof(store, campaigns.rebuilt_proof(proved.suspect), proved));
    if (difference) differences[proved.series.fleet].push_back(*difference);
  }
}

void add_night(storage::Store& store, Nightly const& nightly, Differences& differences) {
  auto const campaign = Campaign::rebuilds(nightly.id);
  auto const measured = measure::pairs_of(store.jobs().values_of(campaign, all_rounds),
                                          store.jobs().values_of(campaign.second(), all_rounds));
  for (auto const& [series, pairs] : measured) {
    if (is_deterministic(series.metric)) continue;
    if (auto const difference = bisect::difference_of(pairs))
      differences[series.fleet].push_back(*difference);
  }
}

void add_nights(storage::Store& store, Differences& differences) {
  auto const nightlies = store.nightlies().all();
  auto const count = std::min<std::size_t>(newest, nightlies.size());
  for (std::size_t i = nightlies.size() - count; i < nightlies.size(); ++i)
    add_night(store, nightlies[i], differences);
}

}  // namespace

BuildVariation read_build_variation(storage::Store& store) {
  Differences differences;
  add_proofs(store, differences);
  add_nights(store, differences);
  BuildVariation variation;
  for (auto const& [fleet, all] : differences)
    if (auto const deviation = bisect::build_variation(all)) variation[fleet] = *deviation;
  return variation;
}

}  // namespace torchwatch::bisection
