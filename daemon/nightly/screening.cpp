#include "daemon/nightly/screening.h"

#include <algorithm>
#include <map>
#include <utility>

#include "bisect/screen.h"
#include "daemon/measure/job.h"

namespace torchwatch::nightly {
namespace {

using measure::SeriesGroup;

/// What a sweep measured of one benchmark: by round, the baseline's outcome and the nightly's.
using Pairs = std::map<int, std::vector<JobOutcome>>;

/// The first `sweep_pairs` rounds of a campaign on one fleet, by benchmark. Later ones are of the
/// comparisons, which must not change what the sweep said.
std::map<Benchmark, Pairs> sweep_in(std::vector<JobOutcome> const& jobs,
                                    std::string const& fleet,
                                    CommitSha const& baseline,
                                    int sweep_pairs) {
  std::map<Benchmark, Pairs> rounds;
  for (auto const& job : jobs) {
    if (job.key.fleet != fleet || job.key.round >= sweep_pairs) continue;
    auto& pair = rounds[job.key.benchmark][job.key.round];
    pair.resize(2);
    pair[job.key.commit == baseline ? 0 : 1] = job;
  }
  return rounds;
}

/// What was measured side by side of one benchmark, a metric each, beside its series.
struct SweptSeries {
  std::vector<Series> series;
  std::vector<bisect::Swept> swept;
};

void add_swept(SweptSeries& all,
               std::string const& fleet,
               Benchmark const& benchmark,
               Pairs const& rounds) {
  for (auto const metric : all_metrics) {
    bisect::Swept swept{metric, {}};
    for (auto const& [round, pair] : rounds)
      if (auto const levels = measure::levels_in(pair, metric))
        swept.pairs.push_back({levels->at(0), levels->at(1)});
    if (swept.pairs.empty()) continue;
    all.series.push_back({fleet, benchmark, metric});
    all.swept.push_back(std::move(swept));
  }
}

}  // namespace

Screening screen_sweep(std::vector<JobOutcome> const& jobs,
                       CommitSha const& baseline,
                       std::vector<config::FleetOptions> const& fleets,
                       config::DecideOptions const& options) {
  std::vector<Series> all;
  std::vector<Series> suspicious;
  for (auto const& fleet : fleets) {
    SweptSeries of_fleet;
    for (auto const& [benchmark, rounds] :
         sweep_in(jobs, fleet.name, baseline, options.sweep_pairs))
      add_swept(of_fleet, fleet.name, benchmark, rounds);
    auto const& series = of_fleet.series;
    auto const may_have_grown = bisect::may_have_grown(of_fleet.swept, options);
    for (std::size_t i = 0; i < series.size(); ++i)
      if (may_have_grown[i]) suspicious.push_back(series[i]);
    all.insert(all.end(), series.begin(), series.end());
  }
  return {measure::by_benchmark(suspicious), measure::by_benchmark(all)};
}

std::vector<SeriesGroup> sample_of(std::vector<SeriesGroup> const& all,
                                   NightlyId night,
                                   int count) {
  std::map<std::string, std::vector<SeriesGroup>> by_fleet;
  for (auto const& group : all)
    by_fleet[group.front().fleet].push_back(group);
  std::vector<SeriesGroup> sample;
  for (auto const& [fleet, groups] : by_fleet) {
    auto const wanted = std::min(static_cast<std::size_t>(count), groups.size());
    auto const first = static_cast<std::size_t>(night.value) * wanted;
    for (std::size_t i = 0; i < wanted; ++i)
      sample.push_back(groups[(first + i) % groups.size()]);
  }
  return sample;
}

std::size_t count_series(std::span<SeriesGroup const> groups) {
  std::size_t count = 0;
  for (auto const& group : groups)
    count += group.size();
  return count;
}

}  // namespace torchwatch::nightly
