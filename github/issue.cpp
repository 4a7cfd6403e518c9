#include "github/issue.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "github/bisection_story.h"
#include "github/life_story.h"
#include "github/markdown.h"
#include "github/next_steps.h"
#include "github/opening.h"
#include "github/transcript.h"
#include "storage/base/digest.h"
#include "storage/domain/words.h"

namespace torchwatch::github {
namespace {

/// Rows of the table of series. More would push the rest of the report over GitHub's limit.
constexpr std::size_t max_series_rows = 100;
constexpr std::string_view marker_begin = "<!-- torchwatch-key: ";
constexpr std::string_view event_begin = "<!-- torchwatch-event: ";
constexpr std::string_view marker_end = " -->";
constexpr std::size_t max_operator_rows = 8;

/// 32 hexadecimal digits of the digest of `identity`.
std::string key_from(std::string_view identity) {
  constexpr std::size_t digits = 32;
  Sha256 digest;
  digest.add(identity);
  return digest.hex().substr(0, digits);
}

std::string title_of(IncidentStory const& story, std::vector<SeriesChange> const& changes) {
  auto const nightly = "nightly " + story.nightly.date;
  auto const headline = words::headline(changes, nightly);
  auto const title = changes.empty() ? "Regression in " + nightly + ": " + headline : headline;
  return std::string{clip(one_line(title), max_title_bytes)};
}

std::string builds_section(IncidentStory const& story, std::string const& project) {
  auto const& baseline = story.baseline;
  auto const& candidate = story.nightly;
  return "The two builds that were compared:\n\n" +
         table({"", "baseline", "candidate"},
               {{"nightly", verbatim(baseline.date), verbatim(candidate.date)},
                {"trunk commit",
                 commit_link(baseline.commit, project),
                 commit_link(candidate.commit, project)},
                {"version", verbatim(baseline.version), verbatim(candidate.version)},
                {"PyTorch as measured",
                 verbatim(story.baseline_pytorch),
                 verbatim(story.nightly_pytorch)}});
}

/// The effect of a finding's commit on the series, if it is proved to have made that worse; else
/// null.
Effect const* explanation(Series const& series, Finding const& finding) {
  auto const effect = std::ranges::find(finding.effects, series, &Effect::series);
  bool const explains =
      is_culprit(finding) && effect != finding.effects.end() && made_worse(*effect);
  return explains ? &*effect : nullptr;
}

/// " (40%)"; empty for a share of 95% or more.
std::string part_of(double share) {
  constexpr double all = 0.95;
  return share < all ? " (" + words::share(share) + ")" : "";
}

/// " (came with 0123456789ab)" for a bisection of a merge; else empty.
std::string merge_of(Bisection const& bisection, std::string const& project) {
  if (!bisection.inside) return {};
  return " (came with " + commit_link(bisection.inside->merge, project) + ")";
}

/// Each culprit once, though several bisections named it.
std::string explained_by(Series const& series,
                         std::vector<Bisection> const& bisections,
                         std::string const& project) {
  std::string culprits;
  for (auto const& bisection : bisections) {
    for (auto const& finding : bisection.findings) {
      auto const* const effect = explanation(series, finding);
      auto const link = commit_link(finding.suspects.front().sha, project);
      if (effect == nullptr || culprits.find(link) != std::string::npos) continue;
      culprits += (culprits.empty() ? "" : ", ") + link +
                  (finding.missing > 0 ? " (missing)" : "") + part_of(effect->share) +
                  merge_of(bisection, project);
    }
  }
  return culprits.empty() ? "not explained" : culprits;
}

/// Names the series that were compared with a later nightly than the report's first, one line for
/// each nightly.
std::string later_baselines(IncidentStory const& story, std::span<SeriesChange const> shown) {
  std::string text;
  for (auto const& [id, baseline] : story.later_baselines) {
    std::string names;
    for (auto const& [series, comparison, muted] : shown)
      if (baseline_of(story.incident, series) == id)
        names += (names.empty() ? "" : ", ") + verbatim(name_of(series)) + " on " +
                 verbatim(series.fleet);
    if (!names.empty())
      text += fmt::format("\nCompared with nightly {}, the last that judged them: {}.\n",
                          verbatim(baseline.date),
                          names);
  }
  return text;
}

/// "+12.3% (at least +10.1%, confidence 99.9%)".
std::string change_cell(SeriesChange const& change) {
  auto const certainty = words::certainty(change.comparison);
  return words::change(change.series.metric, change.comparison) +
         (certainty.empty() ? "" : " (" + certainty + ")");
}

std::span<SeriesChange const> shown_of(std::vector<SeriesChange> const& changes) {
  return std::span{changes}.first(std::min(changes.size(), max_series_rows));
}

/// Names the number of later nightlies whose series joined. Empty when none did.
std::string joined_sentence(IncidentStory const& story) {
  auto const count =
      std::ranges::count(story.events, IncidentEventKind::series_joined, &IncidentEvent::kind);
  if (count == 0) return {};
  return fmt::format(" The table includes series that {} confirmed later.",
                     count == 1 ? "another nightly" : fmt::format("{} nightlies", count));
}

std::string series_section(IncidentStory const& story, std::vector<SeriesChange> const& changes) {
  auto const shown = shown_of(changes);
  std::vector<TableRow> rows;
  for (auto const& change : shown) {
    auto const& [series, comparison, muted] = change;
    rows.push_back({verbatim(name_of(series.benchmark)),
                    words::label(series.metric),
                    verbatim(series.fleet),
                    words::level(series.metric, comparison.before),
                    words::level(series.metric, comparison.after),
                    change_cell(change)});
  }
  auto text = fmt::format(
      "{} series {} worse in nightly {} (candidate) than in nightly {} (baseline).{}{}\n\n",
      changes.size(),
      changes.size() == 1 ? "is" : "are",
      verbatim(story.nightly.date),
      verbatim(story.baseline.date),
      joined_sentence(story),
      unexplained_sentence(story, changes));
  text += table({"benchmark", "metric", "fleet", "baseline", "candidate", "change"}, rows);
  if (changes.size() > shown.size())
    text += fmt::format("\n{} more are not shown.\n", changes.size() - shown.size());
  return text + later_baselines(story, shown) + "\n";
}

/// The intervals of the series, and the evidence for each finding.
std::string statistics_section(IncidentStory const& story,
                               std::vector<SeriesChange> const& changes,
                               std::string const& project) {
  double error = 0;
  for (auto const& change : changes)
    error = std::max(error, change.comparison.error_bound);
  std::vector<TableRow> rows;
  for (auto const& [series, comparison, muted] : shown_of(changes)) {
    rows.push_back({series_name(series),
                    comparison.ratio ? words::interval(comparison.ratio) : "-",
                    std::to_string(comparison.pairs),
                    explained_by(series, story.bisections, project)});
  }
  auto text = fmt::format(
      "Both builds were measured side by side on one host, taking turns in random order. Each "
      "interval misses the true ratio with a probability of at most {:.2g}. A pair is one process "
      "of each build.\n\n",
      error);
  text += table({"series", "interval", "pairs", "explained by"}, rows) + "\n";
  for (auto const& bisection : story.bisections)
    text += evidence_story(bisection, project);
  text.pop_back();  // the fold ends with an empty line of its own
  return text;
}

std::string fingerprint_section(std::string const& fingerprint) {
  auto const facts = nlohmann::json::parse(fingerprint, nullptr, false);
  if (!facts.is_object() || facts.empty()) return "Nothing was recorded about the host.\n";
  std::vector<TableRow> rows;
  for (auto const& [name, value] : facts.items()) {
    auto const shown = value.is_string() ? value.get<std::string>() : value.dump();
    rows.push_back({verbatim(name), verbatim(without_directories(shown))});
  }
  return "The host that measured both builds:\n\n" + table({"property", "value"}, rows);
}

/// The ancestry as the first bisection between both nightlies found it.
std::string ancestry_section(IncidentStory const& story, std::string const& project) {
  for (auto const& bisection : story.bisections)
    if (bisection.request.start == story.baseline.commit &&
        bisection.request.end == story.nightly.commit)
      return ancestry_story(bisection, project);
  return {};
}

/// Each paragraph once, though several bisections named the commit.
std::string landings_section(IncidentStory const& story, std::string const& project) {
  std::string text;
  for (auto const& bisection : story.bisections) {
    auto const one = landings_story(bisection, project);
    if (text.find(one) == std::string::npos) text += one;
  }
  return text;
}

std::string bisections_section(IncidentStory const& story, std::string const& project) {
  if (story.bisections.empty()) return {};
  std::string text = "### Bisection\n\n";
  for (auto const& bisection : story.bisections)
    text += bisection_story(bisection, project);
  return text;
}

/// True when a maintainer should see the operator: its time changed by a share of all operators'
/// time, or its calls or its memory changed.
bool is_relevant(OperatorChange const& change, double total_ms) {
  constexpr double share = 0.02;
  constexpr double rounding = 1e-6;
  auto const differs = [](double before, double after) {
    return std::abs(after - before) > rounding * std::max(before, after);
  };
  return std::abs(change.after.ms - change.before.ms) > share * total_ms ||
         differs(change.before.calls, change.after.calls) ||
         differs(change.before.bytes, change.after.bytes);
}

std::string from_to(std::string const& before, std::string const& after) {
  return before == after ? before : before + " to " + after;
}

std::vector<TableRow> operator_rows(std::span<OperatorChange const> of_benchmark) {
  double total_ms = 0;
  for (auto const& change : of_benchmark)
    total_ms += change.before.ms;
  std::vector<TableRow> rows;
  for (auto const& change : of_benchmark) {
    auto const& [fleet, benchmark, before, after] = change;
    if (rows.size() == max_operator_rows) break;
    if (!is_relevant(change, total_ms)) continue;
    rows.push_back({verbatim(before.name),
                    from_to(fmt::format("{:g}", before.calls), fmt::format("{:g}", after.calls)),
                    fmt::format("{:.3f}", before.ms),
                    fmt::format("{:.3f}", after.ms),
                    fmt::format("{:+.3f}", after.ms - before.ms),
                    from_to(words::level(Metric::cmem, before.bytes),
                            words::level(Metric::cmem, after.bytes))});
  }
  return rows;
}

/// The operators whose cost changed, benchmark by benchmark; empty when none was profiled.
std::string operators_section(std::vector<OperatorChange> const& operators) {
  std::string text;
  std::span<OperatorChange const> rest{operators};
  while (!rest.empty()) {
    auto const other = std::ranges::find_if(rest, [&](OperatorChange const& change) {
      return change.fleet != rest.front().fleet || change.benchmark != rest.front().benchmark;
    });
    auto const of_benchmark = rest.first(static_cast<std::size_t>(other - rest.begin()));
    rest = rest.subspan(of_benchmark.size());
    auto const& [fleet, benchmark, before, after] = of_benchmark.front();
    text += verbatim(name_of(benchmark)) + " on " + verbatim(fleet) + ":\n\n";
    auto const rows = operator_rows(of_benchmark);
    text +=
        rows.empty()
            ? "No operator stands out.\n\n"
            : table({"operator", "calls", "baseline, ms", "candidate, ms", "change", "allocated"},
                    rows) +
                  "\n";
  }
  if (text.empty()) return text;
  text.pop_back();  // the fold ends with an empty line of its own
  return "Per iteration, in each operator itself and not in what it calls, from one profile of "
         "each "
         "build: a hint, not a proof.\n\n" +
         text;
}

/// The parts of a report that are folded, within `limit` bytes.
std::string folded_sections(IncidentStory const& story,
                            std::vector<SeriesChange> const& changes,
                            std::string const& project,
                            std::size_t limit) {
  std::string text;
  auto const add = [&](std::string_view title, std::string section) {
    if (!section.empty()) text += folded(title, std::move(section), limit - text.size());
  };
  add("Statistics: intervals, pairs and proofs", statistics_section(story, changes, project));
  add("Builds", builds_section(story, project));
  add("Measured on", fingerprint_section(story.fingerprint));
  add("Operators", operators_section(story.operators));
  return text;
}

/// The correction comes before everything else: it may withdraw the incident.
std::string correction_section(Incident const& incident) {
  return incident.correction.empty() ? std::string{} : incident.correction + "\n\n";
}

/// Names the earlier incident that was not fixed when this one was opened; empty without one.
std::string earlier_incident_section(IncidentStory const& story) {
  auto const opened =
      std::ranges::find(story.events, IncidentEventKind::opened, &IncidentEvent::kind);
  if (opened == story.events.end() || opened->detail.empty()) return {};
  return "**Earlier incident:** " + verbatim(without_directories(opened->detail)) + ".\n\n";
}

/// True for a series that a later nightly confirmed: it was unknown when the incident was opened.
bool has_joined(Incident const& incident, Series const& series) {
  return std::ranges::any_of(incident.later_series, [&](IncidentSeries const& later) {
    return later.series == series && !later.is_return;
  });
}

/// The detail of an event, unless it has row numbers: that of an explanation lists bisections.
std::string_view lasting_detail(IncidentEvent const& event) {
  return event.kind == IncidentEventKind::explained ? std::string_view{} : event.detail;
}

/// Returns the number of earlier events of the story that differ from `event` by their time alone.
std::ptrdiff_t earlier_ones(IncidentStory const& story, IncidentEvent const& event) {
  return std::ranges::count_if(story.events, [&](IncidentEvent const& other) {
    return other.at < event.at && other.kind == event.kind && other.nightly == event.nightly &&
           other.commit == event.commit && lasting_detail(other) == lasting_detail(event);
  });
}

}  // namespace

std::string key_of(IncidentStory const& story) {
  auto const& [incident, baseline, nightly] =
      std::tie(story.incident, story.baseline, story.nightly);
  if (!incident.report_key.empty()) return incident.report_key;
  std::vector<std::string> names;
  for (auto const& change : incident.changes)
    if (!has_joined(incident, change.series))
      names.push_back(change.series.fleet + "/" + name_of(change.series));
  std::ranges::sort(names);
  auto identity = baseline.commit.hex + "\n" + nightly.commit.hex + "\n";
  for (auto const& name : names)
    identity += name + "\n";
  return key_from(identity);
}

std::string key_of(Alarm const& alarm) {
  return key_from(fmt::format("alarm\n{}\n{}\n{}\n",
                              to_string(alarm.kind),
                              alarm.subject,
                              alarm.raised_at.time_since_epoch().count()));
}

std::string marker_of(std::string const& key) {
  return std::string{marker_begin}.append(key).append(marker_end);
}

std::optional<std::string> key_in(std::string_view body) {
  auto const begin = body.find(marker_begin);
  if (begin == std::string_view::npos) return std::nullopt;
  body.remove_prefix(begin + marker_begin.size());
  auto const end = body.find(marker_end);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string{body.substr(0, end)};
}

std::string marker_of(IncidentStory const& story,
                      IncidentEvent const& event,
                      std::string_view purpose) {
  auto const identity = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n",
                                    key_of(story),
                                    purpose,
                                    to_string(event.kind),
                                    event.nightly ? date_in(story, *event.nightly) : "",
                                    event.commit.hex,
                                    lasting_detail(event),
                                    earlier_ones(story, event));
  return std::string{event_begin}.append(key_from(identity)).append(marker_end);
}

std::string_view event_marker_in(std::string_view body) {
  auto const begin = body.find(event_begin);
  if (begin == std::string_view::npos) return {};
  auto const end = body.find(marker_end, begin);
  if (end == std::string_view::npos) return {};
  return body.substr(begin, end + marker_end.size() - begin);
}

std::string marker_for(std::string const& key, std::string_view purpose) {
  auto const identity = fmt::format("{}\n{}\n", key, purpose);
  return std::string{event_begin}.append(key_from(identity)).append(marker_end);
}

std::string_view digits_in(std::string_view marker) {
  if (!marker.starts_with(event_begin) || !marker.ends_with(marker_end)) return {};
  marker.remove_prefix(event_begin.size());
  marker.remove_suffix(marker_end.size());
  return marker;
}

std::string digest_of_body(std::string_view body) {
  constexpr std::string_view blanks = " \t\r\n";
  while (!body.empty() && blanks.find(body.back()) != std::string_view::npos)
    body.remove_suffix(1);
  std::string text{body};
  std::erase(text, '\r');
  Sha256 digest;
  digest.add(text);
  return digest.hex();
}

IssueDraft draft_issue(IncidentStory const& story, ReportContext const& context) {
  auto const changes = worst_first(story.incident.changes);
  IssueDraft draft;
  draft.key = key_of(story);
  draft.title = title_of(story, changes);
  draft.labels = context.labels;
  // A range of suspects can be long. Then it comes last, where cutting hurts least.
  auto const bisections = bisections_section(story, context.project);
  bool const is_short = bisections.size() < max_body_bytes / 4;
  auto body = marker_of(draft.key) + "\n";
  if (!context.marker.empty()) body += context.marker + "\n";
  body += state_story(story, context.project) + correction_section(story.incident) +
          opening(story, changes, context.project, context.no_bisection) +
          earlier_incident_section(story) + ancestry_section(story, context.project) +
          landings_section(story, context.project) + series_section(story, changes) +
          next_steps(story, changes, context.false_alarm_label, context.project);
  if (is_short) body += bisections;
  auto const limit = is_short ? max_body_bytes : max_body_bytes * 3 / 4;
  draft.body = shortened(std::move(body), limit);
  draft.body += folded_sections(story, changes, context.project, limit - draft.body.size());
  if (!is_short) draft.body = shortened(std::move(draft.body) + bisections, max_body_bytes);
  // Transcripts use the remaining space.
  for (auto const& bisection : story.bisections)
    draft.body += transcript(bisection, context.project, max_body_bytes - draft.body.size());
  return draft;
}

}  // namespace torchwatch::github
