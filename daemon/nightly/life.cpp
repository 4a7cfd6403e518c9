#include "daemon/nightly/life.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "bisect/compare/baseline.h"
#include "daemon/nightly/belonging.h"
#include "daemon/nightly/stages.h"
#include "daemon/report/messages.h"
#include "github/issue.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

namespace {

bool was_judged(Nightly const& nightly) {
  return nightly.state == NightlyState::bisected || nightly.state == NightlyState::done;
}

bool has_event(std::vector<IncidentEvent> const& events, IncidentEventKind kind) {
  return std::ranges::find(events, kind, &IncidentEvent::kind) != events.end();
}

bool has_event(std::vector<IncidentEvent> const& events,
               IncidentEventKind kind,
               NightlyId nightly) {
  return std::ranges::any_of(events, [&](IncidentEvent const& event) {
    return event.kind == kind && event.nightly == nightly;
  });
}

/// True when no event says that the series was back on that nightly.
bool is_untold(SeriesRecovery const& recovery, std::vector<IncidentEvent> const& events) {
  return !has_event(events, IncidentEventKind::fixed, recovery.nightly) &&
         !has_event(events, IncidentEventKind::partly_fixed, recovery.nightly);
}

/// Returns the first nightly whose later series no event of this kind has.
std::optional<NightlyId> first_untold(Incident const& incident,
                                      std::vector<IncidentEvent> const& events,
                                      IncidentEventKind kind) {
  bool const is_return = kind == IncidentEventKind::returned;
  for (auto const& later : incident.later_series)
    if (later.is_return == is_return && !has_event(events, kind, later.nightly))
      return later.nightly;
  return std::nullopt;
}

bool has_correction(Incident const& incident, std::vector<IncidentEvent> const& events) {
  return !incident.correction.empty() &&
         std::ranges::none_of(events, [&](IncidentEvent const& event) {
           return event.kind == IncidentEventKind::answered && event.detail == incident.correction;
         });
}

/// True when a bisection found the cause.
bool is_cause(Bisection const& bisection) {
  auto const& outcome = bisection.outcome;
  return outcome == BisectionOutcome::culprit || outcome == BisectionOutcome::range ||
         outcome == BisectionOutcome::environment || outcome == BisectionOutcome::layout;
}

/// Returns the first commit that one of the bisections proved to be to blame; empty without one.
CommitSha culprit_in(std::vector<Bisection> const& bisections) {
  for (auto const& bisection : bisections)
    for (auto const& finding : bisection.findings)
      if (is_to_blame(finding)) return finding.suspects.front().sha;
  return {};
}

/// "a, b and 3 more".
std::string names_of(std::vector<Series> const& series) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(series.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + name_of(series[i]);
  if (series.size() > most) text += fmt::format(" and {} more", series.size() - most);
  return text;
}

}  // namespace

asio::awaitable<Result<>> Life::follow() {
  auto const compared = co_await look_for_recoveries();
  advance();
  if (look_for_fixes()) advance();
  co_return compared;
}

asio::awaitable<Result<>> Life::look_for_recoveries() {
  auto const last = store_.nightlies().last_ended();
  if (!last || !was_judged(*last) || followed_ == last->id) co_return Result<>{};
  auto const compared = co_await recoveries_.compare(*last);
  if (compared) followed_ = last->id;
  co_return compared;
}

/// Looks once for each ended nightly and state of an incident, since reading the trunk takes time.
/// Returns true when it found any.
bool Life::look_for_fixes() {
  if (options_.source.repository.empty()) return false;
  auto const last = store_.nightlies().last_ended();
  if (!last) return false;
  auto incidents = store_.incidents().changing();
  std::erase_if(incidents, [&](Incident const& incident) {
    std::pair const now{last->id, incident.state};
    return !waits_for_fix(incident.state) || std::exchange(looked_[incident.id], now) == now;
  });
  auto found = fix_search_.look(incidents);
  for (auto& [id, fix] : found)
    fixes_[id] = std::move(fix);
  return !found.empty();
}

void Life::advance() {
  auto const oldest = store_.nightlies().judged_from_end(options_.decide.stale_nights);
  bool has_joined = true;
  while (has_joined) {
    has_joined = false;
    for (auto& incident : store_.incidents().changing())
      has_joined = advance(case_of(std::move(incident), oldest)) || has_joined;
  }
}

Life::Case Life::case_of(Incident incident, std::optional<Nightly> oldest) {
  auto const id = incident.id;
  return {std::move(incident),
          store_.incident_events().of(id),
          store_.incidents().recoveries(id),
          store_.bisections().unreported(id),
          std::move(oldest)};
}

/// Stores the events of one incident. Returns true when it moved series to an earlier one.
bool Life::advance(Case one) {
  while (true) {
    if (join(one)) return true;
    auto const next = next_transition(facts_of(one));
    if (!next) return false;
    commit(one, *next);
    one = case_of(store_.incidents().find(one.incident.id).value(), std::move(one.oldest));
  }
}

/// Moves series to earlier incidents with the same cause, once: when the bisections of the
/// incident's nightly have ended, and before their results are reported.
bool Life::join(Case const& one) {
  if (one.unreported.empty() || has_event(one.events, IncidentEventKind::explained)) return false;
  auto const nightly = store_.nightlies().find(one.incident.nightly).value();
  if (!has_ended(nightly.state)) return false;
  return join_same_causes(store_, one.incident, has_event(one.events, IncidentEventKind::opened));
}

/// True when none of its nightlies is being investigated.
bool Life::is_investigated(Incident const& incident) {
  std::vector<NightlyId> nightlies{incident.nightly};
  for (auto const& later : incident.later_series)
    nightlies.push_back(later.nightly);
  return std::ranges::all_of(nightlies, [&](NightlyId id) {
    return has_ended(store_.nightlies().find(id).value().state);
  });
}

LifeFacts Life::facts_of(Case const& one) {
  auto const& incident = one.incident;
  auto const& events = one.events;
  LifeFacts facts;
  facts.state = incident.state;
  facts.is_opened = has_event(events, IncidentEventKind::opened);
  if (!facts.is_opened)
    facts.is_held = !is_investigated(incident) && may_belong_to_earlier(store_, incident);
  auto const rulings = store_.rulings().on(incident.id);
  if (!rulings.empty()) facts.ruling = rulings.back().kind;
  facts.has_returned = first_untold(incident, events, IncidentEventKind::returned).has_value();
  facts.has_joined = first_untold(incident, events, IncidentEventKind::series_joined).has_value();
  facts.has_correction = has_correction(incident, events);
  facts.has_results = !one.unreported.empty() && is_investigated(incident);
  if (facts.has_results)
    facts.is_explained =
        std::ranges::any_of(store_.bisections().of_incident_in_brief(incident.id), is_cause);
  facts.is_fix_landed = fixes_.contains(incident.id);
  add_recoveries(facts, one);
  facts.is_stale_noted = has_event(events, IncidentEventKind::stale);
  facts.is_unmeasured =
      !facts.is_stale_noted && is_unfinished(incident.state) && !unmeasured_series(one).empty();
  return facts;
}

void Life::add_recoveries(LifeFacts& facts, Case const& one) {
  facts.series = one.incident.changes.size();
  facts.recovered = one.recoveries.size();
  facts.has_recovered = std::ranges::any_of(one.recoveries, [&](SeriesRecovery const& recovery) {
    return is_untold(recovery, one.events);
  });
}

/// Returns the series that are not back and that the last `stale_nights` judged nightlies did not
/// measure.
std::vector<Series> Life::unmeasured_series(Case const& one) {
  auto const& incident = one.incident;
  if (!one.oldest) return {};
  if (!bisect::is_before(store_.nightlies().find(incident.nightly).value(), *one.oldest)) return {};
  std::vector<Series> unmeasured;
  for (auto const& change : incident.changes) {
    bool const is_back =
        std::ranges::find(one.recoveries, change.series, &SeriesRecovery::series) !=
        one.recoveries.end();
    if (!is_back && !is_measured_since(*one.oldest, change.series))
      unmeasured.push_back(change.series);
  }
  return unmeasured;
}

bool Life::is_measured_since(Nightly const& oldest, Series const& series) {
  auto const nights = store_.histories().newest(series, 1);
  if (nights.empty()) return false;
  auto const& last = nights.back();
  return std::tie(last.date, last.nightly) >= std::tie(oldest.date, oldest.id);
}

/// Stores the event with its messages. The key of the report is stored before, since it depends on
/// the series that the incident has when it is opened.
void Life::commit(Case const& one, Transition const& next) {
  auto const event = event_of(one, next);
  auto story = storage::story_of(store_, one.incident);
  if (next.kind == IncidentEventKind::opened) {
    story.incident.report_key = github::key_of(story);
    store_.incidents().intend_report(one.incident.id, story.incident.report_key);
  }
  if (event.nightly && !story.nightlies.contains(*event.nightly))
    story.nightlies[*event.nightly] = store_.nightlies().find(*event.nightly).value();
  auto const messages = report::messages_of(story, event, options_);
  store_.incident_events().add(event, messages);
  if (next.kind == IncidentEventKind::returned) fixes_.erase(one.incident.id);
  spdlog::info("incident_event incident={} kind={} state={} messages={}",
               one.incident.id.value,
               to_string(next.kind),
               to_string(next.state),
               messages.size());
}

IncidentEvent Life::event_of(Case const& one, Transition const& next) {
  IncidentEvent event;
  event.id = store_.incident_events().next_id();
  event.incident = one.incident.id;
  event.kind = next.kind;
  event.state = next.state;
  event.at = clock_.now();
  switch (next.kind) {
    case IncidentEventKind::opened:
      describe_opening(event, one);
      break;
    case IncidentEventKind::explained:
      describe_results(event, one);
      break;
    case IncidentEventKind::series_joined:
      event.nightly = first_untold(one.incident, one.events, next.kind);
      break;
    case IncidentEventKind::returned:
      describe_return(event, one);
      break;
    case IncidentEventKind::fix_expected:
      event.commit = fixes_.at(one.incident.id).sha;
      event.detail = fixes_.at(one.incident.id).subject;
      break;
    case IncidentEventKind::fixed:
    case IncidentEventKind::partly_fixed:
      describe_recovery(event, one);
      break;
    case IncidentEventKind::ruled: {
      auto const ruling = store_.rulings().on(one.incident.id).back();
      event.detail = ruling.who + ": " + ruling.why;
      break;
    }
    case IncidentEventKind::stale:
      describe_staleness(event, one);
      break;
    case IncidentEventKind::answered:
      event.detail = one.incident.correction;
      break;
  }
  return event;
}

/// Names the earlier incident that was not fixed when these series regressed.
void Life::describe_opening(IncidentEvent& event, Case const& one) {
  event.nightly = one.incident.nightly;
  auto const earlier = overlapping_incident(store_, one.incident);
  if (!earlier) return;
  bool const has_cause = !causes_of(store_, one.incident).culprits.empty();
  event.detail = fmt::format(
      "incident {} of nightly {} was not fixed when these series regressed; {}",
      earlier->id.value,
      store_.nightlies().find(earlier->nightly).value().date,
      has_cause ? "another commit caused it" : "it is not known whether one commit caused both");
  if (!earlier->report.empty()) event.detail += ": " + earlier->report;
}

void Life::describe_results(IncidentEvent& event, Case const& one) {
  event.commit = culprit_in(one.unreported);
  std::string ids;
  for (auto const& bisection : one.unreported) {
    event.bisections.push_back(bisection.id);
    ids += (ids.empty() ? "" : ", ") + std::to_string(bisection.id.value);
  }
  event.detail = "bisection " + ids;
}

/// Names the commit that landed a culprit again, if there is one.
void Life::describe_return(IncidentEvent& event, Case const& one) {
  event.nightly = first_untold(one.incident, one.events, IncidentEventKind::returned);
  auto const nightly = store_.nightlies().find(event.nightly.value()).value();
  if (!nightly.baseline) return;
  ComparedNight const range{nightly, store_.nightlies().find(*nightly.baseline).value()};
  auto const again = landed_again_in(store_, options_.source, one.incident, range);
  if (again) event.commit = *again;
}

/// Names the fix on the trunk that came with the nightly, or the range of the nightly.
void Life::describe_recovery(IncidentEvent& event, Case const& one) {
  for (auto const& recovery : one.recoveries)
    if (event.kind == IncidentEventKind::fixed || is_untold(recovery, one.events))
      event.nightly = std::max(event.nightly.value_or(NightlyId{}), recovery.nightly);
  auto const nightly = store_.nightlies().find(event.nightly.value()).value();
  auto const fixes = fix_search_.look({one.incident});
  auto const fix = fixes.find(one.incident.id);
  if (fix != fixes.end() &&
      came_with(store_, options_.source, one.incident, fix->second.sha, nightly)) {
    event.commit = fix->second.sha;
    event.detail = fix->second.subject;
  } else if (nightly.baseline) {
    auto const before = store_.nightlies().find(*nightly.baseline).value();
    event.detail =
        fmt::format("between {} and {}", short_of(before.commit), short_of(nightly.commit));
  }
}

void Life::describe_staleness(IncidentEvent& event, Case const& one) {
  event.detail = fmt::format("no nightly of the last {} measured {}",
                             options_.decide.stale_nights,
                             names_of(unmeasured_series(one)));
}

}  // namespace torchwatch::nightly
