#include "github/bisection_story.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "github/figures.h"
#include "github/markdown.h"

namespace torchwatch::github {
namespace {

/// Series shown of one finding. More would hide the next finding.
constexpr std::size_t max_effects = 8;

/// Lines shown of what two builds differ by.
constexpr std::size_t max_differences = 20;

/// Probability below which nothing is told as a fact.
constexpr double certain = 0.95;

/// The name of "Name <email>": nobody's address belongs on a public page.
std::string author_name(Commit const& commit) {
  return verbatim(std::string_view{commit.author}.substr(0, commit.author.find('<')));
}

std::string pull_request_link(Commit const& commit, std::string const& project) {
  if (!commit.pull_request) return "-";
  return fmt::format("{}/pull/{}", project, *commit.pull_request);
}

bool measured(BisectionStep const& step, CommitSha const& commit) {
  return !step.readings.empty() && std::ranges::count(step.commits, commit) > 0;
}

/// Whether a step says of the commit what matters for the series of a finding.
bool speaks_of(BisectionStep const& step, CommitSha const& commit, Finding const& finding) {
  bool const is_of_finding = std::ranges::any_of(finding.effects, [&step](Effect const& effect) {
    return step.fleet == effect.series.fleet && step.benchmark == effect.series.benchmark;
  });
  bool const is_skipped = step.skipped == commit;
  return (is_skipped && step.is_unbuilt) ||
         (is_of_finding && (is_skipped || measured(step, commit)));
}

/// Why a commit is still a suspect.
std::string reason_for(Commit const& commit,
                       Finding const& finding,
                       std::vector<BisectionStep> const& steps) {
  // A commit may have been tried again: the last word of the last stage counts.
  auto const step =
      std::ranges::find_if(std::ranges::reverse_view(steps), [&](BisectionStep const& tried) {
        return tried.stage == steps.back().stage && speaks_of(tried, commit.sha, finding);
      });
  if (step == steps.rend() || step->skipped != commit.sha)
    return "indistinguishable from its neighbours";
  return "could not be built or measured" + (step->note.empty() ? "" : ": " + verbatim(step->note));
}

std::string seen(Effect const& effect) {
  auto const metric = effect.series.metric;
  return fmt::format("{} to {} during the bisection",
                     level_of(metric, effect.before),
                     level_of(metric, effect.after));
}

std::string figures_of(Metric metric, Comparison const& comparison) {
  if (!has_levels(comparison))
    return fmt::format("no figure ({} pairs of processes)", comparison.pairs);
  return fmt::format("{}{} ({} to {}, {} pairs of processes)",
                     change_of(metric, comparison),
                     comparison.ratio ? " " + interval_of(comparison.ratio) : "",
                     level_of(metric, comparison.before),
                     level_of(metric, comparison.after),
                     comparison.pairs);
}

std::string explained_share(double share) {
  if (share < 0) return "offsets " + share_of(-share) + " of the regression";
  return "explains " + share_of(share) + " of the regression";
}

/// What a comparison came to, and its figures. `with`: "against its parent".
std::string compared(std::string_view with, Metric metric, Comparison const& comparison) {
  auto const figures = figures_of(metric, comparison);
  switch (comparison.verdict) {
    case Verdict::regression:
    case Verdict::improvement:
      return fmt::format("{} {}", with, figures);
    case Verdict::unchanged:
      return fmt::format("no change {}: {}", with, figures);
    case Verdict::inconclusive:
      return fmt::format("inconclusive {}: {}", with, figures);
  }
  return {};
}

std::string rebuilt_of(Effect const& effect) {
  if (!effect.rebuilt) return {};
  return "; " +
         compared("when both were built again with another layout",
                  effect.series.metric,
                  *effect.rebuilt) +
         (effect.is_doubted ? ", and yet no proof: builds of one commit differ by as much" : "");
}

/// What is known of one commit and a series.
std::string evidence_of(Effect const& effect) {
  if (!effect.proof) return seen(effect) + ", not compared with its parent";
  return compared("against its parent", effect.series.metric, *effect.proof) +
         (is_proved(effect) ? ", " + explained_share(effect.share) : "") + rebuilt_of(effect);
}

/// How sure the bisection was; nothing where that is not known.
std::string confidence_of(Effect const& effect) {
  if (effect.probability <= 0) return {};
  return "; confidence " + probability_of(effect.probability);
}

std::string revert_check_of(Effect const& effect) {
  if (!effect.revert_check) return {};
  auto const what = [&] {
    if (is_undone_by_revert(effect)) return " undoes this";
    if (effect.revert_check->verdict == Verdict::inconclusive) return " was inconclusive";
    return is_proved(effect) ? " does not undo this" : "";
  };
  return fmt::format("; reverting it on the newest commit{}: {}",
                     what(),
                     figures_of(effect.series.metric, *effect.revert_check));
}

/// Old records do not say how sure they were.
bool is_certain(Effect const& effect) {
  return effect.probability <= 0 || effect.probability >= certain;
}

std::string effect_lines(Finding const& finding) {
  bool const is_one_commit = finding.suspects.size() == 1;
  auto const shown = std::min(finding.effects.size(), max_effects);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    auto const& effect = finding.effects[i];
    text += fmt::format("- {}: {}{}{}\n",
                        series_name(effect.series),
                        is_one_commit ? evidence_of(effect) : seen(effect),
                        confidence_of(effect),
                        revert_check_of(effect));
  }
  if (finding.effects.size() > shown)
    text += fmt::format("- and {} more series\n", finding.effects.size() - shown);
  if (!finding.no_revert_check.empty())
    text += "- No revert check: " + verbatim(finding.no_revert_check) + "\n";
  return text + "\n";
}

/// What a commit is called. Only a proof accuses.
std::string role_of(Finding const& finding) {
  bool const improved = kind_of(finding) == FindingKind::improvement;
  if (is_culprit(finding)) return improved ? "Improved by" : "Culprit:";
  if (kind_of(finding) == FindingKind::layout) return "Not to blame (one build of it differs):";
  bool const was_tried = std::ranges::any_of(
      finding.effects, [](Effect const& effect) { return effect.proof.has_value(); });
  return fmt::format(
      "Most likely commit{} ({}):",
      improved ? " of an improvement" : "",
      was_tried ? "not confirmed against its parent" : "not compared with its parent");
}

std::string commit_story(Finding const& finding, std::string const& project) {
  auto const& commit = finding.suspects.front();
  return fmt::format("**{} {}** {}\n\n- Pull request: {}\n- Author: {}\n",
                     role_of(finding),
                     commit_link(commit.sha, project),
                     verbatim(commit.subject),
                     pull_request_link(commit, project),
                     author_name(commit)) +
         effect_lines(finding);
}

std::string gradual_heading(Finding const& finding) {
  auto const& effect = finding.effects.front();
  auto const each = effect.before > 0 && effect.after > 0
                        ? fmt::format(", {:+.2f}% each on average",
                                      100 * (ratio_per_suspect(finding, effect) - 1))
                        : "";
  return fmt::format("**No single culprit.** Many of these {} commits did it{}, oldest first:\n\n",
                     finding.suspects.size(),
                     each);
}

std::string range_story(Finding const& finding,
                        Bisection const& bisection,
                        std::string const& project) {
  bool const is_sure = bisection.outcome != BisectionOutcome::undecided &&
                       std::ranges::all_of(finding.effects, is_certain);
  bool const improved = kind_of(finding) == FindingKind::improvement;
  auto text = finding.is_gradual
                  ? gradual_heading(finding)
                  : fmt::format("**{} {}came with one of these {} commits, oldest first:\n\n",
                                improved ? "No single commit.** An improvement"
                                         : "No single culprit.** The regression",
                                is_sure ? "" : "most likely ",
                                finding.suspects.size());
  std::vector<TableRow> rows;
  for (auto const& commit : finding.suspects) {
    rows.push_back({commit_link(commit.sha, project),
                    pull_request_link(commit, project),
                    verbatim(commit.subject),
                    author_name(commit),
                    reason_for(commit, finding, bisection.steps)});
  }
  return text + table({"commit", "pull request", "subject", "author", "why it is listed"}, rows) +
         "\n" + effect_lines(finding);
}

/// What the nightlies' own builds gave when they were compared once more.
std::string packages_measured(std::vector<SeriesChange> const& changes) {
  std::vector<TableRow> rows;
  for (auto const& change : changes) {
    rows.push_back({series_name(change.series),
                    figures_of(change.series.metric, change.comparison),
                    std::string{to_string(change.comparison.verdict)}});
  }
  return table({"nightly builds, measured again", "change", "verdict"}, rows) + "\n";
}

/// What they differ by beside their commits.
std::string packages_story(Packages const& packages, bool are_to_blame) {
  auto const& lines = packages.differences;
  std::string text;
  if (!packages.changes.empty()) text += packages_measured(packages.changes);
  if (lines.empty() && are_to_blame)
    return text + "Nothing visible in the two builds explains it: ask whoever made them.\n\n";
  if (lines.empty()) return text;
  text += "Apart from their commits, the two nightly builds differ in:\n\n";
  for (std::size_t i = 0; i < std::min(lines.size(), max_differences); ++i)
    text += fmt::format("- {}: {}\n",
                        lines[i].starts_with('-') ? "only the good one" : "only the bad one",
                        verbatim(std::string_view{lines[i]}.substr(2)));
  if (lines.size() > max_differences)
    text += fmt::format("- and {} more\n", lines.size() - max_differences);
  return text + "\n";
}

/// What the nightlies' own builds gave, where nothing was found between their commits.
std::string word_on_packages(std::vector<SeriesChange> const& changes) {
  auto const is = [](Verdict verdict) {
    return [verdict](SeriesChange const& change) {
      return change.comparison.verdict == verdict;
    };
  };
  if (std::ranges::all_of(changes, is(Verdict::unchanged)))
    return "The nightly builds no longer differ either; the host may have been busy.";
  if (std::ranges::any_of(changes, is(Verdict::regression)))
    return "The nightly builds still do: they were built differently from the bisection's, and "
           "only they show the change.";
  if (std::ranges::any_of(changes, is(Verdict::improvement)))
    return "The nightly builds still do, but now it is the good one that is worse.";
  return "Comparing the nightly builds again was inconclusive.";
}

bool measured_nightlies_alone(Bisection const& bisection) {
  return !bisection.steps.empty() &&
         std::ranges::all_of(bisection.steps, [](BisectionStep const& step) {
           return step.stage == BisectionStage::nightlies;
         });
}

/// Where commits can be built, nightlies alone can only tell that nothing changed.
bool has_nightlies_alone(Bisection const& bisection) {
  return bisection.outcome == BisectionOutcome::range && measured_nightlies_alone(bisection);
}

std::string not_reproduced_story(Bisection const& bisection) {
  if (measured_nightlies_alone(bisection)) {
    return "**Not reproduced:** the nightly builds did not differ when they were measured again; "
           "the host may have been busy.\n\n";
  }
  bool const were_compared = bisection.packages && !bisection.packages->changes.empty();
  return "**Not reproduced:** both commits were built and measured again, and did not differ. " +
         (were_compared ? word_on_packages(bisection.packages->changes)
                        : "The host may have been busy, or the nightlies were built with different "
                          "dependencies.") +
         "\n\n";
}

bool is_of_last_stage(BisectionStep const& step, Bisection const& bisection, Series const& series) {
  return step.stage == bisection.steps.back().stage && step.fleet == series.fleet &&
         step.benchmark == series.benchmark;
}

/// The step of the last stage in which an end of the series was found not to run; null where both
/// do, at least once.
BisectionStep const* missing_end(Bisection const& bisection, Series const& series) {
  for (auto const& end : {bisection.request.start, bisection.request.end}) {
    BisectionStep const* missing = nullptr;
    bool was_measured = false;
    for (auto const& step : bisection.steps) {
      if (!is_of_last_stage(step, bisection, series)) continue;
      was_measured = was_measured || measured(step, end);
      if (step.skipped == end) missing = &step;
    }
    if (missing != nullptr && !was_measured) return missing;
  }
  return nullptr;
}

/// "the bad commit could not be measured: crashed"; nothing where a series has both ends.
std::string why_no_series_has_ends(Bisection const& bisection) {
  BisectionStep const* missing = nullptr;
  for (auto const& series : bisection.request.series) {
    missing = missing_end(bisection, series);
    if (missing == nullptr) return {};
  }
  if (missing == nullptr) return {};
  bool const is_start = missing->skipped == bisection.request.start;
  return fmt::format("the {} commit {}", is_start ? "good" : "bad", verbatim(missing->note));
}

std::string undecided_story(Bisection const& bisection) {
  auto const missing = why_no_series_has_ends(bisection);
  auto const why =
      missing.empty()
          ? "the bisection ran out of readings, or of builds to read, before it was sure"
          : missing;
  return "**Undecided:** " + why + "." + (bisection.findings.empty() ? "\n\n" : " So far:\n\n");
}

/// Series of which it is not known whether anything happened: nothing found speaks of them, and
/// they were not seen to be as before.
std::string open_story(Bisection const& bisection) {
  if (bisection.steps.empty()) return {};
  auto const is_named = [&](Series const& series) {
    return std::ranges::any_of(bisection.findings, [&](Finding const& finding) {
      return std::ranges::count(finding.effects, series, &Effect::series) > 0;
    });
  };
  std::string text;
  for (auto const& belief : bisection.steps.back().beliefs)
    if (belief.no_change < certain && !is_named(belief.series))
      text += "- " + series_name(belief.series) + "\n";
  if (text.empty()) return text;
  return "Whether anything changed these is not known:\n\n" + text + "\n";
}

std::string outcome_story(Bisection const& bisection) {
  bool const found_any = !bisection.findings.empty();
  if (!bisection.outcome) return "**The bisection has not finished yet.**\n\n";
  switch (*bisection.outcome) {
    case BisectionOutcome::culprit:
    case BisectionOutcome::range:
      return found_any ? "" : "**The bisection named no commit.**\n\n";
    case BisectionOutcome::environment:
      return "**No commit is to blame:** the two nightly builds differ, but their commits do not "
             "when built alike. The change comes from what the nightlies were built or packaged "
             "with.\n\n";
    case BisectionOutcome::not_reproduced:
      return not_reproduced_story(bisection);
    case BisectionOutcome::layout:
      return "**No commit is to blame:** what looked like a change is one build's alone. The same "
             "commits, built again with another layout (order of links, padding), do not differ."
             "\n\n";
    case BisectionOutcome::undecided:
      return undecided_story(bisection);
  }
  return {};
}

std::string ending_of(Bisection const& bisection) {
  switch (bisection.state) {
    case BisectionState::failed:
      return "**The bisection failed:** " + verbatim(bisection.failure) + "\n\n";
    case BisectionState::cancelled:
      return "**The bisection was cancelled.**\n\n";
    case BisectionState::paused:
      return "**The bisection is paused.** If it is resumed, what it finds follows.\n\n";
    case BisectionState::queued:
    case BisectionState::running:
      return "**The bisection has not finished yet.**\n\n";
    case BisectionState::done:
      break;
  }
  return outcome_story(bisection);
}

}  // namespace

std::string commit_link(CommitSha const& sha, std::string const& project) {
  if (!is_commit_sha(sha.hex)) return verbatim(sha.hex);
  return fmt::format("[`{}`]({}/commit/{})", short_of(sha), project, sha.hex);
}

std::string compare_link(CommitSha const& start, CommitSha const& end, std::string const& project) {
  if (!is_commit_sha(start.hex) || !is_commit_sha(end.hex))
    return verbatim(start.hex + "..." + end.hex);
  return fmt::format("[`{}...{}`]({}/compare/{}...{})",
                     short_of(start),
                     short_of(end),
                     project,
                     start.hex,
                     end.hex);
}

std::string series_name(Series const& series) {
  return verbatim(name_of(series)) + " on " + verbatim(series.fleet);
}

std::string bisection_story(Bisection const& bisection, std::string const& project) {
  auto text = fmt::format("Bisected from {} (good) to {} (bad).\n\n",
                          commit_link(bisection.request.start, project),
                          commit_link(bisection.request.end, project)) +
              ending_of(bisection);
  if (has_nightlies_alone(bisection))
    text +=
        "Commits cannot be built here, so only nightlies were measured. All that lies between "
        "the ends: " +
        compare_link(bisection.request.start, bisection.request.end, project) + "\n\n";
  for (auto const& finding : bisection.findings) {
    text += finding.suspects.size() == 1 ? commit_story(finding, project)
                                         : range_story(finding, bisection, project);
  }
  if (bisection.state == BisectionState::done && !bisection.findings.empty())
    text += open_story(bisection);
  bool const is_environment = bisection.outcome == BisectionOutcome::environment;
  if (bisection.packages) text += packages_story(*bisection.packages, is_environment);
  return text;
}

}  // namespace torchwatch::github
