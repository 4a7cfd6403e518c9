#include "daemon/builds/needs.h"

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

/// Those that the newest sweep measured.
std::set<FleetBenchmark> measured_benchmarks(storage::Store& store,
                                             std::vector<Nightly> const& nightlies) {
  std::set<FleetBenchmark> benchmarks;
  for (auto nightly = nightlies.rbegin(); nightly != nightlies.rend() && benchmarks.empty();
       ++nightly)
    for (auto const& job : store.jobs().of(Campaign::of(nightly->id)))
      benchmarks.insert({job.key.fleet, job.key.benchmark});
  return benchmarks;
}

std::vector<bisect::BenchmarkHistory> histories_of(storage::Store& store,
                                                   std::vector<Nightly> const& nightlies) {
  std::vector<bisect::BenchmarkHistory> histories;
  auto const rulings = store.rulings().all();
  for (auto const& which : measured_benchmarks(store, nightlies))
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

Keeping keeping_of(config::Options const& options) {
  Keeping keeping;
  keeping.folder = fs::absolute(options.state_dir).lexically_normal() / "builds";
  keeping.limits = options.builds;
  keeping.has_anchors = options.decide.anchor_nights > 0;
  return keeping;
}

Needs needs_of(storage::Store& store, Keeping const& keeping, Timestamp now) {
  Needs needs;
  needs.builds = keeping.folder;
  needs.nightlies = store.nightlies().all();
  needs.incidents = open_incidents(store, now - std::chrono::days{keeping.limits.incident_days});
  needs.bisections = store.bisections().not_ended();
  needs.companions = companions_in(keeping.folder);
  if (keeping.has_anchors) needs.benchmarks = histories_of(store, needs.nightlies);
  return needs;
}

std::vector<HeldBuild> held_builds(storage::Store& store, Keeping const& keeping, Timestamp now) {
  auto const builds = store.kept_builds().all();
  auto holds = holds_on(builds, needs_of(store, keeping, now));
  std::vector<HeldBuild> held;
  for (auto const& build : builds)
    held.push_back({build, std::move(holds[build.name])});
  std::ranges::stable_sort(
      held, std::ranges::greater{}, [](HeldBuild const& one) { return one.build.used_at; });
  return held;
}

}  // namespace torchwatch::builds
