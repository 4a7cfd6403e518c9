#include "daemon/nightly/fixes.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/git/history.h"

namespace torchwatch::nightly {
namespace {

void log_unknown(Incident const& incident, Error const& problem) {
  spdlog::warn("fixes_unknown incident={} reason=\"{}\"", incident.id.value, problem.message);
}

/// Returns the commit after which a fix counts: that of the nightly at which the incident returned
/// last, else the culprit, else that of its nightly.
CommitSha start_of_search(storage::Store& store,
                          Incident const& incident,
                          std::optional<Commit> const& culprit) {
  std::optional<NightlyId> returned;
  for (auto const& later : incident.later_series)
    if (later.is_return) returned = later.nightly;
  if (!returned && culprit) return culprit->sha;
  return store.nightlies().find(returned.value_or(incident.nightly)).value().commit;
}

/// Returns the commits after `start` up to `end`, with their messages.
Result<std::vector<bisect::Landing>> landings_between(bisect::GitHistory const& history,
                                                      CommitSha const& start,
                                                      CommitSha const& end) {
  auto const commits = history.commits_between(start, end);
  if (!commits) return commits.error();
  std::vector<bisect::Landing> landings;
  for (auto const& commit : *commits) {
    auto message = history.message(commit.sha);
    if (!message) return message.error();
    landings.push_back({commit.sha, std::move(*message)});
  }
  return landings;
}

bool is_issue(std::string const& report) {
  return report.starts_with("https://");
}

Result<std::optional<CommitSha>> find_again(std::vector<Commit> const& culprits,
                                            config::SourceOptions const& source,
                                            ComparedNight const& range) {
  auto const history = bisect::GitHistory::open(source.repository);
  if (!history) return history.error();
  auto const landings = landings_between(*history, range.baseline.commit, range.nightly.commit);
  if (!landings) return landings.error();
  for (auto const& culprit : culprits)
    if (auto again = bisect::landed_again(culprit, *landings)) return again;
  return std::optional<CommitSha>{};
}

/// True when the request is to bisect between these nightlies.
bool is_between(storage::Store& store,
                BisectionRequest const& request,
                NightlyId baseline,
                NightlyId nightly) {
  return request.start == store.nightlies().find(baseline).value().commit &&
         request.end == store.nightlies().find(nightly).value().commit;
}

/// True when the request is to bisect between the nightlies of which one showed the incident first,
/// or again.
bool is_of_incident(storage::Store& store,
                    BisectionRequest const& request,
                    Incident const& incident) {
  if (is_between(store, request, incident.baseline, incident.nightly)) return true;
  for (auto const& [series, baseline] : incident.later_baselines)
    if (is_between(store, request, baseline, incident.nightly)) return true;
  return std::ranges::any_of(incident.later_series, [&](IncidentSeries const& later) {
    auto const nightly = store.nightlies().find(later.nightly).value();
    return nightly.baseline && is_between(store, request, *nightly.baseline, nightly.id);
  });
}

/// True when the bisection searched the incident's own commits. A user may bisect other ones, which
/// need not have caused the incident.
bool is_of_range(storage::Store& store, Bisection const& bisection, Incident const& incident) {
  if (!bisection.inside) return is_of_incident(store, bisection.request, incident);
  auto const outer = store.bisections().find(bisection.inside->outer);
  return outer && is_of_range(store, *outer, incident);
}

bisect::Defect defect_of(storage::Store& store, Incident const& incident) {
  auto const culprits = culprits_of(store, incident);
  bisect::Defect defect;
  if (!culprits.empty()) defect.culprit = culprits.front();
  if (is_issue(incident.report)) defect.issue = incident.report;
  return defect;
}

}  // namespace

std::vector<Commit> culprits_of(storage::Store& store, Incident const& incident) {
  std::vector<Commit> culprits;
  for (auto const& bisection : store.bisections().of_incident_in_brief(incident.id))
    for (auto const& finding : bisection.findings)
      if (is_to_blame(finding)) culprits.push_back(finding.suspects.front());
  return culprits;
}

Causes causes_of(storage::Store& store, Incident const& incident) {
  Causes causes;
  for (auto const& culprit : culprits_of(store, incident))
    causes.culprits.push_back(culprit.sha);
  causes.range.push_back(store.nightlies().find(incident.nightly).value().commit);
  for (auto const& bisection : store.bisections().of_incident_in_brief(incident.id)) {
    if (!is_of_range(store, bisection, incident)) continue;
    for (auto const& commit : store.bisections().commits_of(bisection.id))
      causes.range.push_back(commit.sha);
  }
  return causes;
}

std::map<IncidentId, LandedCommit> FixSearch::look(std::vector<Incident> const& incidents) {
  std::map<IncidentId, LandedCommit> fixes;
  if (source_.repository.empty() || incidents.empty()) return fixes;
  // All incidents share it, since it keeps the commits that it read.
  auto const history = bisect::GitHistory::open(source_.repository);
  for (auto const& incident : incidents) {
    auto fix =
        history ? fix_of(*history, incident) : Result<std::optional<LandedCommit>>{history.error()};
    if (!fix) log_unknown(incident, fix.error());
    if (fix && *fix) fixes[incident.id] = std::move(**fix);
  }
  return fixes;
}

Result<std::optional<LandedCommit>> FixSearch::fix_of(bisect::GitHistory const& history,
                                                      Incident const& incident) {
  auto const defect = defect_of(store_, incident);
  auto const start = start_of_search(store_, incident, defect.culprit);
  Progress const at_start{start, start, bisect::FixFinder{defect}};
  auto& progress = progress_.try_emplace(incident.id, at_start).first->second;
  if (progress.start != start || progress.finder.defect() != defect) progress = at_start;
  auto caught_up = catch_up(progress, history);
  if (!caught_up && progress.end != start) {  // the trunk was rewritten
    progress = at_start;
    caught_up = catch_up(progress, history);
  }
  if (!caught_up) return caught_up.error();
  auto const fix = progress.finder.fix();
  if (!fix) return std::optional<LandedCommit>{};
  auto const commit = history.commit(*fix);
  if (!commit) return commit.error();
  return std::optional{LandedCommit{*fix, commit->subject}};
}

/// Adds the commits that landed since.
Result<> FixSearch::catch_up(Progress& progress, bisect::GitHistory const& history) {
  auto const later = history.landed_after(progress.end, source_.remote);
  if (!later) return later.error();
  progress.finder.add(*later);
  if (!later->empty()) progress.end = later->back().sha;
  return {};
}

bool came_with(storage::Store& store,
               config::SourceOptions const& source,
               Incident const& incident,
               CommitSha const& commit,
               Nightly const& nightly) {
  auto const start = store.nightlies().find(incident.nightly).value().commit;
  auto const history = bisect::GitHistory::open(source.repository);
  auto const commits = history ? history->commits_between(start, nightly.commit)
                               : Result<std::vector<Commit>>{history.error()};
  if (!commits) log_unknown(incident, commits.error());
  return commits && std::ranges::find(*commits, commit, &Commit::sha) != commits->end();
}

std::optional<CommitSha> landed_again_in(storage::Store& store,
                                         config::SourceOptions const& source,
                                         Incident const& incident,
                                         ComparedNight const& range) {
  auto const culprits = culprits_of(store, incident);
  if (source.repository.empty() || culprits.empty()) return std::nullopt;
  auto again = find_again(culprits, source, range);
  if (again) return std::move(*again);
  log_unknown(incident, again.error());
  return std::nullopt;
}

}  // namespace torchwatch::nightly
