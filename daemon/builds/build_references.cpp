#include "daemon/builds/build_references.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <system_error>
#include <utility>

#include "daemon/builds/companions.h"

namespace torchwatch::builds {
namespace fs = std::filesystem;

namespace {

bool is_ruled_on(storage::Store& store, IncidentId incident) {
  return std::ranges::any_of(store.rulings().on(incident), [](Ruling const& ruling) {
    return ruling.kind == RulingKind::accept || ruling.kind == RulingKind::false_alarm;
  });
}

std::vector<Incident> open_incidents(storage::Store& store, Timestamp since) {
  auto incidents = store.incidents().all();
  std::erase_if(incidents, [&](Incident const& incident) {
    return incident.opened_at < since || is_ruled_on(store, incident.id);
  });
  return incidents;
}

/// The incidents that a nightly may still end. A stale one may never be measured again, so its
/// builds are kept only as long as those of others.
std::vector<Incident> unfinished_incidents(storage::Store& store) {
  auto incidents = store.incidents().changing();
  std::erase_if(incidents, [](Incident const& incident) {
    return !is_unfinished(incident.state) || incident.state == IncidentState::stale;
  });
  return incidents;
}

/// The benchmarks that the newest sweep measured.
std::set<FleetBenchmark> measured_benchmarks(storage::Store& store,
                                             std::vector<Nightly> const& nightlies) {
  std::set<FleetBenchmark> benchmarks;
  for (auto nightly = nightlies.rbegin(); nightly != nightlies.rend() && benchmarks.empty();
       ++nightly)
    for (auto const& job : store.jobs().of(Campaign::of(nightly->id)))
      benchmarks.insert({job.key.fleet, job.key.benchmark});
  return benchmarks;
}

/// The series of these benchmarks.
bisect::JudgedSeries judged_series(storage::Store& store,
                                   std::set<FleetBenchmark> const& benchmarks) {
  bisect::JudgedSeries judged{store.histories().recent(bisect::nightlies_to_wait),
                              store.rulings().all()};
  std::erase_if(judged.nights, [&](SeriesNights const& one) {
    return !benchmarks.contains({one.series.fleet, one.series.benchmark});
  });
  return judged;
}

/// Returns the series baselines of nightlies that are being judged.
std::vector<NightlyId> chosen_baselines(storage::Store& store,
                                        std::vector<Nightly> const& nightlies) {
  std::vector<NightlyId> chosen;
  for (auto const& nightly : nightlies) {
    bool const has_ended = nightly.state == NightlyState::bisected ||
                           nightly.state == NightlyState::done ||
                           nightly.state == NightlyState::failed;
    if (has_ended) continue;
    for (auto const& [series, baseline] : store.baselines().of(nightly.id))
      if (std::ranges::find(chosen, baseline) == chosen.end()) chosen.push_back(baseline);
  }
  return chosen;
}

std::vector<bisect::BenchmarkHistory> histories_of(storage::Store& store,
                                                   std::set<FleetBenchmark> const& benchmarks) {
  std::vector<bisect::BenchmarkHistory> histories;
  auto const rulings = store.rulings().all();
  for (auto const& which : benchmarks)
    histories.push_back({which,
                         store.incidents().verdicts_of(which),
                         store.anchors().verdicts_of(which),
                         rulings,
                         store.histories().nightlies_with(which)});
  return histories;
}

}  // namespace

std::map<std::string, std::vector<std::string>> companions_in(fs::path const& folder) {
  std::map<std::string, std::vector<std::string>> companions;
  std::error_code problem;
  for (auto at = fs::directory_iterator{folder, problem}; !problem && at != fs::end(at);
       at.increment(problem))
    for (auto const& companion : companions_listed_in(at->path()))
      companions[at->path().filename()].push_back(folder_of(companion));
  return companions;
}

RetentionPolicy retention_policy_of(config::Options const& options) {
  RetentionPolicy policy;
  policy.folder = fs::absolute(options.state_dir).lexically_normal() / "builds";
  policy.limits = options.builds;
  policy.has_anchors = options.decide.anchor_nights > 0;
  return policy;
}

BuildReferences read_references(storage::Store& store,
                                RetentionPolicy const& policy,
                                Timestamp now) {
  BuildReferences references;
  references.builds = policy.folder;
  references.nightlies = store.nightlies().all();
  references.incidents =
      open_incidents(store, now - std::chrono::days{policy.limits.incident_days});
  references.unfinished = unfinished_incidents(store);
  references.bisections = store.bisections().not_ended();
  references.companions = companions_in(policy.folder);
  references.baselines = chosen_baselines(store, references.nightlies);
  auto const benchmarks = measured_benchmarks(store, references.nightlies);
  references.series = judged_series(store, benchmarks);
  if (policy.has_anchors) references.benchmarks = histories_of(store, benchmarks);
  return references;
}

std::vector<BuildWithUsers> builds_with_users(storage::Store& store,
                                              RetentionPolicy const& policy,
                                              Timestamp now) {
  auto const builds = store.kept_builds().all();
  auto users = users_of(builds, read_references(store, policy, now));
  std::vector<BuildWithUsers> listed;
  for (auto const& build : builds)
    listed.push_back({build, std::move(users[build.name])});
  std::ranges::stable_sort(
      listed, std::ranges::greater{}, [](BuildWithUsers const& one) { return one.build.used_at; });
  return listed;
}

}  // namespace torchwatch::builds
