#include "daemon/judging.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/family.h"
#include "bisect/screen.h"
#include "daemon/async/all.h"
#include "daemon/baseline.h"
#include "daemon/build_manifest.h"

namespace torchwatch {
namespace asio = boost::asio;

namespace {

/// What a sweep measured of one benchmark: by round, the baseline's outcome and the nightly's.
using Rounds = std::map<int, std::vector<JobOutcome>>;

/// The first `sweep_pairs` rounds of a campaign, by fleet and benchmark. Later ones are of the
/// comparisons, which must not change what the sweep said.
std::map<std::pair<std::string, Benchmark>, Rounds> sweep_in(std::vector<JobOutcome> const& jobs,
                                                             CommitSha const& baseline,
                                                             int sweep_pairs) {
  std::map<std::pair<std::string, Benchmark>, Rounds> rounds;
  for (auto const& job : jobs) {
    if (job.key.round >= sweep_pairs) continue;
    auto& pair = rounds[{job.key.fleet, job.key.benchmark}][job.key.round];
    pair.resize(2);
    pair[job.key.commit == baseline ? 0 : 1] = job;
  }
  return rounds;
}

bool same_benchmark(Series const& left, Series const& right) {
  return left.fleet == right.fleet && left.benchmark == right.benchmark;
}

std::size_t count_series(std::vector<std::vector<Series>> const& groups) {
  std::size_t count = 0;
  for (auto const& group : groups)
    count += group.size();
  return count;
}

}  // namespace

void Judging::screen(Nightly const& nightly, Nightly const& baseline) {
  auto const screened = screen_series(nightly, baseline);
  spdlog::info("screened date={} baseline={} series={} suspicious_benchmarks={}",
               nightly.date,
               baseline.date,
               count_series(screened.all),
               screened.suspicious.size());
}

Judging::Screened Judging::screen_series(Nightly const& nightly, Nightly const& baseline) {
  auto const jobs = store_.jobs().of_campaign(campaign_of(nightly.id));
  Screened screened;
  auto const add = [](std::vector<Group>& groups, Series const& series) {
    if (groups.empty() || !same_benchmark(groups.back().front(), series)) groups.emplace_back();
    groups.back().push_back(series);
  };
  for (auto const& fleet : fleets_.all()) {
    std::vector<Series> series;
    std::vector<bisect::Swept> sweep;
    for (auto const& [where, rounds] : sweep_in(jobs, baseline.commit, options_.sweep_pairs)) {
      if (where.first != fleet.name()) continue;
      for (auto const metric : all_metrics) {
        bisect::Swept swept{metric, {}};
        for (auto const& [round, pair] : rounds)
          if (auto const levels = levels_in(pair, metric))
            swept.pairs.push_back({levels->at(0), levels->at(1)});
        if (swept.pairs.empty()) continue;
        series.push_back({fleet.name(), where.second, metric});
        sweep.push_back(std::move(swept));
      }
    }
    auto const suspicious = bisect::may_have_grown(sweep, options_);
    for (std::size_t i = 0; i < series.size(); ++i) {
      add(screened.all, series[i]);
      if (suspicious[i]) add(screened.suspicious, series[i]);
    }
  }
  return screened;
}

/// Some benchmarks of each fleet; over the nights everybody's turn comes.
std::vector<Judging::Group> Judging::aa_sample(Nightly const& nightly,
                                               std::vector<Group> const& all) const {
  std::vector<Group> sample;
  for (auto const& fleet : fleets_.all()) {
    std::vector<Group> of_fleet;
    std::ranges::copy_if(all, std::back_inserter(of_fleet), [&](Group const& group) {
      return group.front().fleet == fleet.name();
    });
    auto const wanted = static_cast<std::size_t>(options_.aa_benchmarks);
    auto const count = std::min(wanted, of_fleet.size());
    auto const first = static_cast<std::size_t>(nightly.id.value) * count;
    for (std::size_t i = 0; i < count; ++i)
      sample.push_back(of_fleet[(first + i) % of_fleet.size()]);
  }
  return sample;
}

/// What a nightly's benchmarks are to be compared with beside its baseline. Over `anchor_nights`
/// nights everybody's turn comes.
std::vector<Judging::Task> Judging::anchored_tasks(Nightly const& nightly,
                                                   Build const& build,
                                                   std::vector<Group> const& all) {
  std::vector<Task> tasks;
  if (options_.anchor_nights == 0) return tasks;
  auto place = nightly.id.value;
  for (auto const& group : all) {
    if (place++ % options_.anchor_nights != 0) continue;
    if (auto anchor = anchor_of(nightly, group))
      tasks.push_back(
          {{"anchor/" + std::to_string(nightly.id.value), std::move(*anchor), build}, group, {}});
  }
  return tasks;
}

/// The oldest candidate whose build is still there; nothing when that is the baseline, against
/// which the nightly is judged anyway. Chosen once, whatever is ruled meanwhile.
std::optional<Build> Judging::anchor_of(Nightly const& nightly, Group const& group) {
  auto anchors = store_.anchors();
  FleetBenchmark const which{group.front().fleet, group.front().benchmark};
  auto const nightlies = store_.nightlies();
  BenchmarkHistory const history{which,
                                 store_.incidents().verdicts_of(which),
                                 anchors.verdicts_of(which),
                                 store_.rulings().all()};
  auto const chosen = anchors.chosen(which, nightly.id);
  auto const candidates = chosen ? std::vector{nightlies.find(*chosen).value()}
                                 : anchor_candidates(nightly, nightlies.all(), history);
  for (auto const& candidate : candidates) {
    if (candidate.id == nightly.baseline) break;
    auto build = read_build(candidate.prefix);
    if (!build || candidate.commit == nightly.commit) continue;
    anchors.choose(which, nightly.id, candidate.id);
    return std::move(*build);
  }
  return std::nullopt;
}

asio::awaitable<void> Judging::decide(Task& task, config::DecideOptions const& options) {
  auto& fleet = *fleets_.find(task.group.front().fleet);
  task.result = co_await compare_builds(measuring_, fleet, task.comparison, task.group, options);
}

void Judging::settle_mutes(std::span<Task> tasks) const {
  for (auto& task : tasks)
    for (auto& change : task.result.changes)
      change.muted = store_.rulings().is_muted(change.series, clock_.now());
}

/// Whether anybody has to hear of it.
bool Judging::record(Nightly const& nightly, std::span<Task const> tasks) {
  bool any = false;
  for (auto const& task : tasks) {
    for (auto const& change : task.result.changes) {
      store_.incidents().record(nightly.id, change);
      any = any || (change.comparison.verdict == Verdict::regression && !change.muted);
    }
  }
  return any;
}

void Judging::record_aa(Nightly const& nightly, std::span<Task const> tasks) {
  for (auto const& task : tasks) {
    for (auto const& change : task.result.changes) {
      store_.incidents().record_aa(nightly.id, change);
      auto const verdict = change.comparison.verdict;
      if (verdict == Verdict::regression || verdict == Verdict::improvement)
        spdlog::warn("false_alarm date={} series={} verdict={}",
                     nightly.date,
                     name_of(change.series),
                     to_string(verdict));
    }
  }
}

void Judging::record_anchored(Nightly const& nightly, std::span<Task const> tasks) {
  for (auto const& task : tasks)
    for (auto const& change : task.result.changes)
      store_.anchors().record(nightly.id, change);
}

asio::awaitable<Result<bool>> Judging::confirm(Nightly const& nightly, Nightly const& baseline) {
  auto const before = read_build(baseline.prefix);
  if (!before) co_return before.error();
  auto const after = read_build(nightly.prefix);
  if (!after) co_return after.error();
  auto const screened = screen_series(nightly, baseline);
  auto const options = bisect::for_family(options_, count_series(screened.all));
  // The same campaign as the sweep's: its pairs are the first ones of each comparison.
  std::vector<Task> tonight;
  for (auto const& group : screened.suspicious)
    tonight.push_back({{campaign_of(nightly.id), *before, *after}, group, {}});
  std::vector<Task> aa;
  for (auto const& group : aa_sample(nightly, screened.all))
    aa.push_back({{"aa/" + std::to_string(nightly.id.value), *after, *after}, group, {}});
  auto anchored = anchored_tasks(nightly, *after, screened.all);
  std::vector<asio::awaitable<void>> comparisons;
  for (auto* const tasks : {&tonight, &aa, &anchored})
    for (auto& task : *tasks)
      comparisons.push_back(decide(task, options));
  co_await run_all(std::move(comparisons));
  settle_mutes(tonight);
  settle_mutes(anchored);
  record_aa(nightly, aa);
  record_anchored(nightly, anchored);
  bool const any = record(nightly, tonight);
  if (any) {
    auto const incident = store_.incidents().open(baseline.id, nightly.id, clock_.now());
    spdlog::warn("incident_opened id={} date={} series={}",
                 incident.id.value,
                 nightly.date,
                 incident.changes.size());
  }
  co_return any;
}

}  // namespace torchwatch
