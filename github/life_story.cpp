#include "github/life_story.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "github/bisection_story.h"
#include "github/markdown.h"
#include "github/opening.h"
#include "storage/domain/words.h"

namespace torchwatch::github {
namespace {

/// Rows of the table of recovered series.
constexpr std::size_t max_recovery_rows = 100;

/// " in nightly `2026-12-01`"; empty for an event without a nightly.
std::string when_of(IncidentStory const& story, IncidentEvent const& event) {
  return event.nightly ? " in " + nightly_name(story, *event.nightly) : std::string{};
}

/// " by [`0123456789ab`](...)"; empty for an event without a commit.
std::string cause_of_event(IncidentEvent const& event, std::string const& project) {
  return event.commit.hex.empty() ? std::string{} : " by " + commit_link(event.commit, project);
}

/// ": `detail`"; empty without one.
std::string detail_of_event(IncidentEvent const& event) {
  if (event.detail.empty()) return {};
  return ": " + verbatim(without_directories(event.detail));
}

SeriesRecovery const* recovery_of(IncidentStory const& story, Series const& series) {
  // A series may have regressed again since: the newest recovery counts.
  auto const& all = story.recoveries;
  auto const found = std::find_if(all.rbegin(), all.rend(), [&](SeriesRecovery const& recovery) {
    return recovery.series == series;
  });
  return found == all.rend() ? nullptr : &*found;
}

std::size_t recovered_series(IncidentStory const& story) {
  auto const& changes = story.incident.changes;
  return static_cast<std::size_t>(std::ranges::count_if(changes, [&](SeriesChange const& change) {
    return recovery_of(story, change.series) != nullptr;
  }));
}

/// "+0.2% (between -1.0% and +1.4%, confidence 99.9%)".
std::string compared_with_good(SeriesRecovery const& recovery) {
  auto const metric = recovery.series.metric;
  auto const certainty = words::certainty(recovery.comparison);
  return words::change(metric, recovery.comparison) +
         (certainty.empty() ? "" : " (" + certainty + ")");
}

TableRow recovery_row(IncidentStory const& story, SeriesChange const& change) {
  auto const& [series, comparison, muted] = change;
  auto const* const recovery = recovery_of(story, series);
  return {verbatim(name_of(series.benchmark)),
          words::label(series.metric),
          verbatim(series.fleet),
          words::level(series.metric, comparison.before),
          words::level(series.metric, comparison.after),
          recovery == nullptr ? "-" : words::level(series.metric, recovery->comparison.after),
          recovery == nullptr ? "not back" : compared_with_good(*recovery)};
}

std::string recovery_table(IncidentStory const& story) {
  auto const changes = worst_first(story.incident.changes);
  std::vector<TableRow> rows;
  for (auto const& change : changes) {
    if (rows.size() == max_recovery_rows) break;
    rows.push_back(recovery_row(story, change));
  }
  auto text =
      "Measured side by side with the last good build, " +
      nightly_name(story, story.incident.baseline) + ":\n\n" +
      table({"benchmark", "metric", "fleet", "before", "during", "now", "now compared with before"},
            rows);
  if (changes.size() > rows.size())
    text += fmt::format("\n{} more are not shown.\n", changes.size() - rows.size());
  return text + "\n";
}

/// "2 of 3 series are back at the level before."
std::string recovered_sentence(IncidentStory const& story) {
  return fmt::format("{} of {} series are back at the level before.",
                     recovered_series(story),
                     story.incident.changes.size());
}

/// The ruling that an event stores: the newest on the incident.
Ruling const* ruling_of(IncidentStory const& story) {
  return story.rulings.empty() ? nullptr : &story.rulings.back();
}

/// " by `ada`: `pays for itself`", or what the event says where the story has no ruling.
std::string who_and_why(IncidentStory const& story, IncidentEvent const& event) {
  auto const* const ruling = ruling_of(story);
  if (ruling == nullptr) return detail_of_event(event);
  return " by " + verbatim(ruling->who) + ": " + verbatim(ruling->why);
}

/// The event in bold, with its time, cause and reason: what the body and the comment both say.
std::string bold_event(IncidentStory const& story,
                       IncidentEvent const& event,
                       std::string const& project) {
  auto const when = when_of(story, event);
  auto const cause = cause_of_event(event, project);
  switch (event.kind) {
    case IncidentEventKind::opened:
      return "**Opened**" + when;
    case IncidentEventKind::explained:
      return "**Explained**";
    case IncidentEventKind::series_joined:
      return "**More series**" + when + detail_of_event(event);
    case IncidentEventKind::fix_expected:
      return "**Fix expected**" + cause + detail_of_event(event);
    case IncidentEventKind::fixed:
      return "**Fixed**" + when + cause + detail_of_event(event);
    case IncidentEventKind::partly_fixed:
      return "**Partly fixed**" + when + cause + detail_of_event(event);
    case IncidentEventKind::returned:
      return "**Returned**" + when + cause + detail_of_event(event);
    case IncidentEventKind::ruled:
      if (event.state == IncidentState::accepted) return "**Accepted**" + who_and_why(story, event);
      if (event.state == IncidentState::false_alarm)
        return "**False alarm**, reported" + who_and_why(story, event);
      return "**Ruling**" + who_and_why(story, event);
    case IncidentEventKind::stale:
      return "**No longer measured**" + detail_of_event(event);
    case IncidentEventKind::answered:
      return "**Answer**" + detail_of_event(event);
  }
  return {};
}

/// The sentence that follows the event; empty for events that need none.
std::string consequence_of(IncidentStory const& story, IncidentEvent const& event) {
  switch (event.kind) {
    case IncidentEventKind::fix_expected:
      return " A nightly that contains the fix is compared with the last good build.";
    case IncidentEventKind::fixed:
      return " All series are back at the level before.";
    case IncidentEventKind::partly_fixed:
      return " " + recovered_sentence(story);
    case IncidentEventKind::ruled:
      return event.state == IncidentState::accepted
                 ? " The new level is the reference for later nightlies."
                 : "";
    case IncidentEventKind::stale:
      return " Until it is measured again, it is unknown whether it is fixed.";
    default:
      return {};
  }
}

/// The kind of the event that leads to a state; nothing for the states that need no paragraph.
std::optional<IncidentEventKind> kind_behind(IncidentState state) {
  switch (state) {
    case IncidentState::fix_expected:
      return IncidentEventKind::fix_expected;
    case IncidentState::fixed:
      return IncidentEventKind::fixed;
    case IncidentState::partly_fixed:
      return IncidentEventKind::partly_fixed;
    case IncidentState::returned:
      return IncidentEventKind::returned;
    case IncidentState::accepted:
    case IncidentState::false_alarm:
      return IncidentEventKind::ruled;
    case IncidentState::stale:
      return IncidentEventKind::stale;
    case IncidentState::open:
    case IncidentState::explained:
      break;
  }
  return std::nullopt;
}

std::string full_stop_after(std::string text) {
  return std::move(text) + ".";
}

/// The bisections whose results an event reports; all of the story where it names none.
std::vector<Bisection> bisections_of(IncidentStory const& story, IncidentEvent const& event) {
  auto reported = story.bisections;
  if (event.bisections.empty()) return reported;
  std::erase_if(reported, [&](Bisection const& bisection) {
    return std::ranges::count(event.bisections, bisection.id) == 0;
  });
  return reported;
}

/// The claims of the event's bisections, or the reason why they name no commit.
std::string explanation_story(IncidentStory story,
                              IncidentEvent const& event,
                              std::string const& project) {
  story.bisections = bisections_of(story, event);
  auto text = opening(story, worst_first(story.incident.changes), project);
  for (auto const& bisection : story.bisections) {
    auto const landings = landings_story(bisection, project);
    if (text.find(landings) == std::string::npos) text += landings;
  }
  return text + "The description of this incident has the evidence and the next steps.\n\n";
}

/// The series of the event's nightly that belong to the incident: new ones, or those that came
/// back.
std::string later_series_list(IncidentStory const& story,
                              IncidentEvent const& event,
                              bool is_return) {
  std::string text;
  for (auto const& later : story.incident.later_series) {
    if (event.nightly != later.nightly || later.is_return != is_return) continue;
    auto const& changes = story.incident.changes;
    auto const change = std::ranges::find(changes, later.series, &SeriesChange::series);
    bool const has_figures = !is_return && change != changes.end();
    text += "- " + series_name(later.series);
    if (has_figures) text += ": " + words::figures(later.series.metric, change->comparison);
    text += "\n";
  }
  return text.empty() ? text : text + "\n";
}

/// The last sentences of a comment: what happens next.
std::string outlook_of(IncidentEvent const& event) {
  switch (event.kind) {
    case IncidentEventKind::fixed:
      return "If a series regresses to the same level again, this incident returns.\n\n";
    case IncidentEventKind::partly_fixed:
      return "The incident stays open for the others.\n\n";
    case IncidentEventKind::returned:
      return "It is the same incident: the series regressed to the same level as before.\n\n";
    default:
      return {};
  }
}

/// "2026-12-01".
std::string day_of(Timestamp time) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time_t{time.time_since_epoch().count()}));
}

}  // namespace

std::string date_in(IncidentStory const& story, NightlyId nightly) {
  if (nightly == story.incident.nightly) return story.nightly.date;
  if (nightly == story.incident.baseline) return story.baseline.date;
  for (auto const* const others : {&story.nightlies, &story.later_baselines})
    if (auto const found = others->find(nightly); found != others->end()) return found->second.date;
  return {};
}

std::string nightly_name(IncidentStory const& story, NightlyId nightly) {
  auto const date = date_in(story, nightly);
  return date.empty() ? "a later nightly" : "nightly " + verbatim(date);
}

std::string state_story(IncidentStory const& story, std::string const& project) {
  auto const kind = kind_behind(story.incident.state);
  if (!kind) return {};
  auto const& events = story.events;
  auto const found = std::find_if(events.rbegin(), events.rend(), [&](IncidentEvent const& event) {
    return event.kind == *kind;
  });
  if (found == events.rend()) return {};
  return full_stop_after(bold_event(story, *found, project)) + consequence_of(story, *found) +
         "\n\n";
}

std::string event_story(IncidentStory const& story,
                        IncidentEvent const& event,
                        std::string const& project) {
  bool const is_correction =
      !story.incident.correction.empty() && event.detail == story.incident.correction;
  if (is_correction) return story.incident.correction + "\n\n";
  auto const& kind = event.kind;
  auto text =
      full_stop_after(bold_event(story, event, project)) + consequence_of(story, event) + "\n\n";
  if (kind == IncidentEventKind::explained) text += explanation_story(story, event, project);
  if (kind == IncidentEventKind::series_joined) text += later_series_list(story, event, false);
  if (kind == IncidentEventKind::returned) text += later_series_list(story, event, true);
  if (kind == IncidentEventKind::fixed || kind == IncidentEventKind::partly_fixed)
    text += recovery_table(story);
  return text + outlook_of(event);
}

std::string history_story(IncidentStory const& story, std::string const& project) {
  if (story.events.size() < 2) return {};
  std::string text = "### History\n\n";
  for (auto const& event : story.events)
    text += "- " + day_of(event.at) + ": " + bold_event(story, event, project) + "\n";
  return text + "\n";
}

std::string headline_of(IncidentStory const& story, IncidentEvent const& event) {
  std::string text{to_string(event.kind)};
  if (event.kind == IncidentEventKind::ruled) text = to_string(event.state);
  std::ranges::replace(text, '_', ' ');
  auto const date = event.nightly ? date_in(story, *event.nightly) : std::string{};
  return one_line(date.empty() ? text : text + " in nightly " + date);
}

}  // namespace torchwatch::github
