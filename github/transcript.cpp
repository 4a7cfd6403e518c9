#include "github/transcript.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "github/bisection_story.h"
#include "github/markdown.h"
#include "storage/domain/words.h"

namespace torchwatch::github {
namespace {

constexpr std::size_t max_rows = 60;

/// A text that would stretch its cell is cut.
std::string brief(std::string_view text) {
  constexpr std::size_t max_cell_bytes = 200;
  return verbatim(clip(without_directories(text), max_cell_bytes));
}

std::string links_of(std::vector<CommitSha> const& commits, std::string const& project) {
  std::string text;
  for (auto const& commit : commits) {
    if (!text.empty()) text += ", ";
    text += commit_link(commit, project);
  }
  return text;
}

/// The levels of the latency or, if it was not measured, of the first metric.
std::string levels_of(std::vector<MetricLevels> const& readings) {
  auto reading = std::ranges::find(readings, Metric::latency, &MetricLevels::metric);
  if (reading == readings.end()) reading = readings.begin();
  std::string text;
  for (auto const level : reading->levels) {
    text += text.empty() ? std::string{to_string(reading->metric)} + " " : ", ";
    text += words::level(reading->metric, level);
  }
  return text;
}

std::string result_of(BisectionStep const& step, std::string const& project) {
  if (step.skipped) {
    return fmt::format("{} could not be built or measured: {}",
                       commit_link(*step.skipped, project),
                       brief(step.note));
  }
  if (!step.readings.empty()) return levels_of(step.readings);
  return step.is_done ? brief(step.note) : "not run";
}

std::string place_of(SeriesBelief const& belief) {
  auto const name = [](CommitSha const& sha) {
    return is_commit_sha(sha.hex) ? short_of(sha) : sha.hex;
  };
  auto const first = name(belief.first);
  return brief(belief.first == belief.last ? first : first + ".." + name(belief.last));
}

/// The belief about the first series that was not certain yet; about the first series if all
/// were.
std::string belief_after(BisectionStep const& step) {
  constexpr double sure = 0.99;
  auto const& beliefs = step.beliefs;
  if (beliefs.empty()) return "-";
  auto belief = std::ranges::find_if(beliefs, [](SeriesBelief const& one) {
    return std::max(one.no_change, one.probability) < sure;
  });
  if (belief == beliefs.end()) belief = beliefs.begin();
  auto text = beliefs.size() == 1 ? std::string{} : series_name(belief->series) + ": ";
  text += "no change " + words::probability(belief->no_change);
  if (belief->probability > 0)
    text += ", " + place_of(*belief) + " " + words::probability(belief->probability);
  return text;
}

TableRow row_of(BisectionStep const& step, std::string const& project) {
  return {
      std::to_string(step.wave) + (step.stage == BisectionStage::nightlies ? " (nightlies)" : ""),
      verbatim(name_of(step.benchmark)) + " on " + verbatim(step.fleet),
      links_of(step.commits, project),
      brief(step.reason),
      result_of(step, project),
      belief_after(step)};
}

/// "1 step", "2 steps".
std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string effort_of(Bisection const& bisection, std::string const& project) {
  std::set<CommitSha> measured;
  std::set<CommitSha> nightlies;
  std::set<CommitSha> skipped;
  for (auto const& step : bisection.steps) {
    auto& kind = step.stage == BisectionStage::nightlies ? nightlies : measured;
    if (!step.readings.empty()) kind.insert(step.commits.begin(), step.commits.end());
    if (step.skipped) skipped.insert(*step.skipped);
  }
  std::erase_if(skipped, [&](CommitSha const& commit) {
    return measured.contains(commit) || nightlies.contains(commit);
  });
  return fmt::format("From {} to {}: {}; {}{} measured, {} skipped.\n\n",
                     commit_link(bisection.request.start, project),
                     commit_link(bisection.request.end, project),
                     counted(bisection.steps.size(), "step"),
                     nightlies.empty() ? "" : counted(nightlies.size(), "nightly build") + " and ",
                     counted(measured.size(), "commit"),
                     skipped.size());
}

/// The transcript with the last `shown` steps: those that decided.
std::string transcript_of_last(std::size_t shown,
                               Bisection const& bisection,
                               std::string const& project) {
  auto const left_out = bisection.steps.size() - shown;
  std::vector<TableRow> rows;
  for (auto i = left_out; i < bisection.steps.size(); ++i)
    rows.push_back(row_of(bisection.steps[i], project));
  return "<details><summary>Transcript of the bisection</summary>\n\n" +
         effort_of(bisection, project) +
         (left_out == 0
              ? ""
              : fmt::format(
                    "Not shown: the first {} of {}.\n\n", left_out, bisection.steps.size())) +
         table({"wave", "benchmark", "commits", "reason", "result", "belief"}, rows) +
         "\n</details>\n\n";
}

}  // namespace

std::string transcript(Bisection const& bisection,
                       std::string const& project,
                       std::size_t max_bytes) {
  for (auto shown = std::min(bisection.steps.size(), max_rows); shown > 0; --shown) {
    auto text = transcript_of_last(shown, bisection, project);
    if (text.size() <= max_bytes) return text;
  }
  return {};
}

}  // namespace torchwatch::github
