#include "daemon/nightly/belonging.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "bisect/compare/baseline.h"
#include "daemon/nightly/fixes.h"
#include "daemon/nightly/life_rules.h"

namespace torchwatch::nightly {
namespace {

using Addition = storage::Incidents::Addition;

/// A regression and the builds that showed it.
struct Regression {
  SeriesChange change;
  ComparedNight night;
};

Nightly nightly_of(storage::Store& store, NightlyId id) {
  return store.nightlies().find(id).value();
}

/// Returns the regressions of the night that were not added before. A call that was cut off may
/// have added some, after which their series are not back any more.
std::vector<Regression> regressions_of(storage::Store& store, ComparedNight const& night) {
  auto const older = store.baselines().of(night.nightly.id);
  auto const added = store.incidents().added_series(night.nightly.id);
  std::vector<Regression> regressions;
  for (auto const& change : store.incidents().verdicts(night.nightly.id)) {
    if (change.comparison.verdict != Verdict::regression || change.muted) continue;
    if (added.contains(change.series)) continue;
    auto const own = older.find(change.series);
    auto const baseline = own == older.end() ? night.baseline : nightly_of(store, own->second);
    regressions.push_back({change, {night.nightly, baseline}});
  }
  return regressions;
}

SeriesChange const* change_of(Incident const& incident, Series const& series) {
  auto const found = std::ranges::find(incident.changes, series, &SeriesChange::series);
  return found == incident.changes.end() ? nullptr : &*found;
}

/// Returns the nightly on which the series was back; nothing while it is not.
std::optional<NightlyId> recovered_on(storage::Store& store,
                                      Incident const& incident,
                                      Series const& series) {
  auto const recoveries = store.incidents().recoveries(incident.id);
  auto const found = std::ranges::find(recoveries, series, &SeriesRecovery::series);
  return found == recoveries.end() ? std::nullopt : std::optional{found->nightly};
}

/// Returns the number of judged nightlies after `first` up to `last`.
int judged_between(storage::Store& store, NightlyId first, Nightly const& last) {
  auto const start = nightly_of(store, first);
  auto const all = store.nightlies().since(start.date);
  return static_cast<int>(std::ranges::count_if(all, [&](Nightly const& one) {
    bool const is_judged = one.state == NightlyState::bisected || one.state == NightlyState::done;
    bool const is_last = one.id == last.id;
    return bisect::is_before(start, one) &&
           (is_last || (is_judged && bisect::is_before(one, last)));
  }));
}

/// True when the regression is that of the incident again.
bool returns_to(storage::Store& store,
                config::Options const& options,
                Regression const& regression,
                Incident const& incident) {
  auto const* const earlier = change_of(incident, regression.change.series);
  if (earlier == nullptr || incident.state == IncidentState::accepted ||
      incident.state == IncidentState::false_alarm)
    return false;
  auto const back = recovered_on(store, incident, earlier->series);
  if (!back) return false;
  bool const is_recent =
      judged_between(store, *back, regression.night.nightly) <= options.decide.return_nights;
  if (is_recent && is_same_step(*earlier, regression.change.comparison, options.decide))
    return true;
  return landed_again_in(store, options.source, incident, regression.night).has_value();
}

/// True when the builds that showed the regression lie in the range of the incident.
bool lies_in(storage::Store& store, Regression const& regression, Incident const& incident) {
  if (!is_unfinished(incident.state)) return false;
  if (change_of(incident, regression.change.series) != nullptr) return false;
  auto const& [nightly, baseline] = regression.night;
  return nightly.commit == nightly_of(store, incident.nightly).commit &&
         !bisect::is_before(baseline, nightly_of(store, incident.baseline));
}

/// Returns the incidents that opened on nightlies before `nightly`, newest first.
std::vector<Incident> incidents_before(storage::Store& store, Nightly const& nightly) {
  auto incidents = store.incidents().all();
  std::erase_if(incidents, [&](Incident const& incident) {
    return !bisect::is_before(nightly_of(store, incident.nightly), nightly);
  });
  return incidents;
}

/// Returns the incident that the regression belongs to; nothing when it has none.
std::optional<Addition> addition_of(storage::Store& store,
                                    config::Options const& options,
                                    Regression const& regression,
                                    std::vector<Incident> const& earlier) {
  IncidentSeries series{regression.night.nightly.id, regression.change.series};
  for (auto const& incident : earlier) {
    series.is_return = returns_to(store, options, regression, incident);
    if (series.is_return || lies_in(store, regression, incident))
      return Addition{incident.id, series};
  }
  return std::nullopt;
}

/// Returns the nightly that the series was compared with.
Nightly baseline_nightly(storage::Store& store, Incident const& incident, Series const& series) {
  return nightly_of(store, baseline_of(incident, series));
}

/// True when the series was last judged before the nightly of the earlier incident.
bool overlaps(storage::Store& store,
              Incident const& incident,
              Series const& series,
              Incident const& earlier) {
  return change_of(earlier, series) == nullptr &&
         bisect::is_before(baseline_nightly(store, incident, series),
                           nightly_of(store, earlier.nightly));
}

/// Returns the unfinished incidents before this one that were opened, newest first.
std::vector<Incident> unfinished_before(storage::Store& store, Incident const& incident) {
  auto earlier = incidents_before(store, nightly_of(store, incident.nightly));
  std::erase_if(earlier, [&](Incident const& one) {
    return !is_unfinished(one.state) || one.id == incident.id ||
           store.incident_events().of(one.id).empty();
  });
  return earlier;
}

/// Returns the commits that the incident's bisections suspect for a series.
std::vector<Commit> suspects_of(std::vector<Bisection> const& bisections, Series const& series) {
  std::vector<Commit> suspects;
  for (auto const& bisection : bisections)
    for (auto const& finding : bisection.findings)
      if (kind_of(finding) != FindingKind::improvement &&
          std::ranges::find(finding.effects, series, &Effect::series) != finding.effects.end())
        suspects.insert(suspects.end(), finding.suspects.begin(), finding.suspects.end());
  return suspects;
}

/// Returns the series of the incident that have the cause of the earlier one.
std::vector<Series> series_of_same_cause(storage::Store& store,
                                         Incident const& incident,
                                         Incident const& earlier) {
  auto const bisections = store.bisections().of_incident_in_brief(incident.id);
  auto const causes = causes_of(store, earlier);
  std::vector<Series> same;
  for (auto const& change : incident.changes)
    if (overlaps(store, incident, change.series, earlier) &&
        have_same_cause(suspects_of(bisections, change.series), causes))
      same.push_back(change.series);
  return same;
}

}  // namespace

bool add_to_earlier_incidents(storage::Store& store,
                              config::Options const& options,
                              ComparedNight const& night) {
  auto const earlier = incidents_before(store, night.nightly);
  auto const regressions = regressions_of(store, night);
  std::vector<Addition> additions;
  for (auto const& regression : regressions) {
    auto addition = addition_of(store, options, regression, earlier);
    if (!addition) continue;
    spdlog::info("series_added incident={} date={} series={} is_return={}",
                 addition->incident.value,
                 night.nightly.date,
                 name_of(regression.change.series),
                 addition->series.is_return);
    additions.push_back(std::move(*addition));
  }
  store.incidents().add_series(additions);
  return additions.size() < regressions.size();
}

std::optional<Incident> overlapping_incident(storage::Store& store, Incident const& incident) {
  for (auto& earlier : unfinished_before(store, incident))
    if (std::ranges::any_of(incident.changes, [&](SeriesChange const& change) {
          return overlaps(store, incident, change.series, earlier);
        }))
      return std::move(earlier);
  return std::nullopt;
}

bool may_belong_to_earlier(storage::Store& store, Incident const& incident) {
  auto const earlier = unfinished_before(store, incident);
  return std::ranges::all_of(incident.changes, [&](SeriesChange const& change) {
    return std::ranges::any_of(earlier, [&](Incident const& one) {
      return overlaps(store, incident, change.series, one);
    });
  });
}

bool join_same_causes(storage::Store& store, Incident const& incident, bool is_opened) {
  auto left = incident;
  for (auto const& earlier : unfinished_before(store, incident)) {
    auto const same = series_of_same_cause(store, left, earlier);
    if (same.empty() || (is_opened && same.size() == left.changes.size())) continue;
    store.incidents().join(left, earlier.id, same);
    spdlog::info("incident_joined id={} earlier={} series={}",
                 incident.id.value,
                 earlier.id.value,
                 same.size());
    std::erase_if(left.changes, [&](SeriesChange const& change) {
      return std::ranges::find(same, change.series) != same.end();
    });
    if (left.changes.empty()) return true;
  }
  return left.changes.size() < incident.changes.size();
}

}  // namespace torchwatch::nightly
