#include "github/bisection_story.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "github/figures.h"
#include "github/markdown.h"

namespace torchwatch::github {
namespace {

/// Series told of one finding. More would hide the next finding.
constexpr std::size_t max_effects = 8;

/// Lines told of what two builds differ by.
constexpr std::size_t max_differences = 20;

/// The name of "Name <email>": nobody's address belongs on a public page.
std::string author_name(Commit const& commit) {
  return verbatim(std::string_view{commit.author}.substr(0, commit.author.find('<')));
}

std::string pull_request_link(Commit const& commit, std::string const& project) {
  if (!commit.pull_request) return "-";
  return fmt::format("{}/pull/{}", project, *commit.pull_request);
}

/// Why a commit is still a suspect.
std::string reason_for(Commit const& commit, std::vector<BisectionStep> const& steps) {
  // A commit may have been tried again: the last word counts.
  auto const step = std::find_if(steps.rbegin(), steps.rend(), [&commit](auto const& tried) {
    return tried.skipped == commit.sha;
  });
  if (step == steps.rend()) return "not told apart from its neighbours";
  return "could not be built or measured" + (step->note.empty() ? "" : ": " + verbatim(step->note));
}

std::string seen(Effect const& effect) {
  auto const metric = effect.series.metric;
  return fmt::format("{} to {} as the search saw it",
                     level_of(metric, effect.before),
                     level_of(metric, effect.after));
}

std::string figures_of(Metric metric, Comparison const& proof) {
  return fmt::format("{}{} ({} to {}, {} pairs of processes)",
                     change_of(metric, proof),
                     proof.ratio ? " " + interval_of(proof.ratio) : "",
                     level_of(metric, proof.before),
                     level_of(metric, proof.after),
                     proof.pairs);
}

std::string explained_share(double share) {
  if (share < 0)
    return fmt::format("goes against the incident's change ({} of it)", share_of(share));
  return fmt::format("explains {} of the incident's change", share_of(share));
}

/// What is known of one commit and a series.
std::string evidence_of(Effect const& effect) {
  if (!effect.proof) return seen(effect) + ", not measured against its parent";
  auto const figures = figures_of(effect.series.metric, *effect.proof);
  switch (effect.proof->verdict) {
    case Verdict::regression:
    case Verdict::improvement:
      return "measured against its parent: " + figures + ", " + explained_share(effect.share);
    case Verdict::unchanged:
      return "measured against its parent it did not differ: " + figures;
    case Verdict::inconclusive:
      return "measured against its parent it could not be told whether it differs: " + figures;
  }
  return {};
}

/// What came of taking the commit back on the newest one.
std::string cure_of(Effect const& effect) {
  if (!effect.revert_check) return {};
  auto const figures = figures_of(effect.series.metric, *effect.revert_check);
  return fmt::format("; taken back on the newest commit{}: {}",
                     is_undone_by_revert(effect) ? "" : ", that does not undo it",
                     figures);
}

std::string effect_lines(Finding const& finding) {
  bool const is_one_commit = finding.suspects.size() == 1;
  auto const shown = std::min(finding.effects.size(), max_effects);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    auto const& effect = finding.effects[i];
    text += fmt::format("- {}: {}; the search was {} sure{}\n",
                        series_name(effect.series),
                        is_one_commit ? evidence_of(effect) : seen(effect),
                        probability_of(effect.probability),
                        cure_of(effect));
  }
  if (finding.effects.size() > shown)
    text += fmt::format("- and {} more series\n", finding.effects.size() - shown);
  if (!finding.no_revert_check.empty())
    text += "- Not taken back on the newest commit: " + verbatim(finding.no_revert_check) + "\n";
  return text + "\n";
}

bool is_improvement(Finding const& finding) {
  if (is_culprit(finding)) return std::ranges::none_of(finding.effects, made_worse);
  return std::ranges::all_of(finding.effects,
                             [](Effect const& effect) { return effect.after < effect.before; });
}

/// What a commit is called. Only a proof accuses.
std::string role_of(Finding const& finding) {
  bool const improved = is_improvement(finding);
  if (is_culprit(finding)) return improved ? "Improved by" : "Culprit:";
  bool const was_tried = std::ranges::any_of(
      finding.effects, [](Effect const& effect) { return effect.proof.has_value(); });
  return fmt::format("Likeliest commit{}, but {}:",
                     improved ? " of an improvement" : "",
                     was_tried ? "its proof failed" : "not measured against its parent");
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

std::string range_story(Finding const& finding,
                        Bisection const& bisection,
                        std::string const& project) {
  bool const is_sure = bisection.outcome && *bisection.outcome != BisectionOutcome::undecided;
  auto text = fmt::format("**{} {}came with one of these {} commits, oldest first:\n\n",
                          is_improvement(finding) ? "No single commit.** An improvement"
                                                  : "No single culprit.** The change",
                          is_sure ? "" : "most likely ",
                          finding.suspects.size());
  std::vector<TableRow> rows;
  for (auto const& commit : finding.suspects) {
    rows.push_back({commit_link(commit.sha, project),
                    pull_request_link(commit, project),
                    verbatim(commit.subject),
                    author_name(commit),
                    reason_for(commit, bisection.steps)});
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
  return table({"the nightlies' builds, measured again", "change", "verdict"}, rows) + "\n";
}

/// What they differ by beside their commits.
std::string packages_story(Packages const& packages, bool are_to_blame) {
  auto const& lines = packages.differences;
  std::string text;
  if (!packages.changes.empty()) text += packages_measured(packages.changes);
  if (lines.empty() && are_to_blame) {
    return text +
           "By what the builds of the two nightlies differ beside their commits cannot be "
           "seen from here: how they were made is for whoever made them to tell.\n\n";
  }
  if (lines.empty()) return text;
  text += "Beside their commits, the builds of the two nightlies differ by this:\n\n";
  for (std::size_t i = 0; i < std::min(lines.size(), max_differences); ++i)
    text += fmt::format("- {}: {}\n",
                        lines[i].starts_with('-') ? "only the good one" : "only the bad one",
                        verbatim(std::string_view{lines[i]}.substr(2)));
  if (lines.size() > max_differences)
    text += fmt::format("- and {} more\n", lines.size() - max_differences);
  return text + "\n";
}

/// What was asked of the nightlies' own builds, where the search found nothing between their
/// commits.
std::string word_on_packages(std::vector<SeriesChange> const& changes) {
  auto const is = [](Verdict verdict) {
    return [verdict](SeriesChange const& change) {
      return change.comparison.verdict == verdict;
    };
  };
  if (std::ranges::all_of(changes, is(Verdict::unchanged)))
    return "Nor did the builds of the nightlies. The host may have been another one then, or busy.";
  if (std::ranges::any_of(changes, is(Verdict::regression)))
    return "The builds of the nightlies do: both were made in another way than those of the "
           "search, and it shows with theirs alone.";
  return "Of the builds of the nightlies it could not be told.";
}

std::string not_reproduced_story(Bisection const& bisection) {
  bool const built_none = std::ranges::all_of(bisection.steps, [](BisectionStep const& step) {
    return step.stage == BisectionStage::nightlies;
  });
  if (built_none && !bisection.steps.empty()) {
    return "**Not reproduced:** the builds of the nightlies did not differ when they were measured "
           "again. The host may have been another one then, or busy.\n\n";
  }
  bool const were_compared = bisection.packages && !bisection.packages->changes.empty();
  return "**Not reproduced:** the two ends did not differ when their commits were built and "
         "measured again. " +
         (were_compared ? word_on_packages(bisection.packages->changes)
                        : "The host, a dependency or the packaging may differ between the "
                          "nightlies.") +
         "\n\n";
}

std::string outcome_story(Bisection const& bisection) {
  bool const found_any = !bisection.findings.empty();
  if (!bisection.outcome) return "**The search has not ended yet.**\n\n";
  switch (*bisection.outcome) {
    case BisectionOutcome::culprit:
    case BisectionOutcome::range:
      return found_any ? "" : "**The search named no commit.**\n\n";
    case BisectionOutcome::environment:
      return "**No commit did it:** the change shows between the builds of the two nightlies, and "
             "not between their commits, built alike. What the nightlies were built or packed with "
             "made the difference.\n\n";
    case BisectionOutcome::not_reproduced:
      return not_reproduced_story(bisection);
    case BisectionOutcome::undecided:
      return std::string{"**Undecided:** the search's budget ended before it was sure."} +
             (found_any ? " What it found until then:\n\n" : "\n\n");
  }
  return {};
}

std::string ending_of(Bisection const& bisection) {
  switch (bisection.state) {
    case BisectionState::failed:
      return "**The search failed:** " + verbatim(bisection.failure) + "\n\n";
    case BisectionState::cancelled:
      return "**The search was cancelled** by a person before it ended.\n\n";
    case BisectionState::paused:
      return "**The search is paused** by a person and has not ended yet.\n\n";
    case BisectionState::queued:
    case BisectionState::running:
      return "**The search has not ended yet.**\n\n";
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

std::string series_name(Series const& series) {
  return verbatim(name_of(series)) + " on " + verbatim(series.fleet);
}

std::string bisection_story(Bisection const& bisection, std::string const& project) {
  auto text = fmt::format("Searched from {} (good) to {} (bad).\n\n",
                          commit_link(bisection.request.start, project),
                          commit_link(bisection.request.end, project)) +
              ending_of(bisection);
  for (auto const& finding : bisection.findings) {
    text += finding.suspects.size() == 1 ? commit_story(finding, project)
                                         : range_story(finding, bisection, project);
  }
  bool const is_environment = bisection.outcome == BisectionOutcome::environment;
  if (bisection.packages) text += packages_story(*bisection.packages, is_environment);
  return text;
}

}  // namespace torchwatch::github
