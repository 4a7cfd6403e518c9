#include "github/search_story.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "github/figures.h"
#include "github/markdown.h"

namespace torchwatch::github {
namespace {

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
    return tried.commit == commit.sha;
  });
  if (step == steps.rend()) return "not told apart from its neighbours";
  auto const note = step->note.empty() ? "" : ": " + verbatim(step->note);
  switch (step->verdict) {
    case StepVerdict::skip:
      return "could not be built or measured" + note;
    case StepVerdict::bad:
      return "behaves like the end" + note;
    case StepVerdict::good:
      return "behaves like the start" + note;
  }
  return {};
}

std::string counted_steps(std::vector<BisectionStep> const& steps) {
  auto const skipped = std::count_if(steps.begin(), steps.end(), [](auto const& step) {
    return step.verdict == StepVerdict::skip;
  });
  return fmt::format(
      "Commits tried: {}, of which {} could not be built or measured.\n", steps.size(), skipped);
}

std::string proof_line(Bisection const& bisection) {
  if (!bisection.proof || !bisection.lead) return {};
  auto const& proof = *bisection.proof;
  auto const metric = bisection.lead->metric;
  return fmt::format(
      "- Proof: measured against its parent on {}: {} {} ({} to {}, {} pairs of processes)\n",
      verbatim(name_of(*bisection.lead)),
      change_of(metric, proof),
      interval_of(proof.ratio),
      level_of(metric, proof.before),
      level_of(metric, proof.after),
      proof.pairs);
}

std::string culprit_story(Bisection const& bisection,
                          std::size_t changes,
                          std::string const& project) {
  auto const& commit = bisection.suspects.front();
  auto text = fmt::format(
      "**Culprit: {}** {}\n\n", commit_link(commit.sha, project), verbatim(commit.subject));
  text += "- Pull request: " + pull_request_link(commit, project) + "\n";
  text += "- Author: " + author_name(commit) + "\n";
  text += proof_line(bisection);
  text += fmt::format(
      "- Explains {} of the {} affected series\n\n", bisection.explained.size(), changes);
  return text;
}

std::string range_story(Bisection const& bisection, std::string const& project) {
  auto text = fmt::format(
      "**No single culprit.** The change came with one of these {} commits, oldest first:\n\n",
      bisection.suspects.size());
  std::vector<TableRow> rows;
  for (auto const& commit : bisection.suspects) {
    rows.push_back({commit_link(commit.sha, project),
                    pull_request_link(commit, project),
                    verbatim(commit.subject),
                    author_name(commit),
                    reason_for(commit, bisection.steps)});
  }
  return text + table({"commit", "pull request", "subject", "author", "why it is listed"}, rows) +
         "\n";
}

std::string outcome_story(Bisection const& bisection,
                          std::size_t changes,
                          std::string const& project) {
  if (bisection.state == BisectionState::failed)
    return "**The search failed:** " + verbatim(bisection.failure) + "\n\n";
  if (!bisection.outcome) return "**The search has not ended yet.**\n\n";
  switch (*bisection.outcome) {
    case BisectionOutcome::culprit:
      if (!bisection.suspects.empty()) return culprit_story(bisection, changes, project);
      break;
    case BisectionOutcome::range:
      return range_story(bisection, project);
    case BisectionOutcome::not_reproduced:
      break;
  }
  return "**Not reproduced:** the two ends did not differ when they were measured again.\n\n";
}

}  // namespace

std::string commit_link(CommitSha const& sha, std::string const& project) {
  if (!is_commit_sha(sha.hex)) return verbatim(sha.hex);
  return fmt::format("[`{}`]({}/commit/{})", short_of(sha), project, sha.hex);
}

std::string search_story(Bisection const& bisection,
                         std::size_t changes,
                         std::string const& project) {
  return fmt::format("Searched from {} (good) to {} (bad).\n\n",
                     commit_link(bisection.request.start, project),
                     commit_link(bisection.request.end, project)) +
         outcome_story(bisection, changes, project) + counted_steps(bisection.steps);
}

}  // namespace torchwatch::github
