#include "github/opening.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "github/bisection_story.h"
#include "github/markdown.h"
#include "storage/domain/words.h"

namespace torchwatch::github {
namespace {

/// Claims shown in the first lines.
constexpr std::size_t max_claims = 3;

/// Other series shown with one claim.
constexpr std::size_t max_others = 3;

/// A finding, and the bisection that made it.
struct Claim {
  Finding const* finding;
  Bisection const* bisection;
};

/// The order of claims: what a maintainer can act on comes first.
int rank_of(Claim const& claim) {
  switch (kind_of(*claim.finding)) {
    case FindingKind::culprit:
      return 0;
    case FindingKind::range:
    case FindingKind::gradual:
      return 1;
    case FindingKind::improvement:
      return 2;
    case FindingKind::layout:
      return 3;
  }
  return 4;
}

/// The effect that decides what a finding is called.
Effect const& main_effect(Finding const& finding) {
  for (auto const& effect : finding.effects)
    if (made_worse(effect)) return effect;
  for (auto const& effect : finding.effects)
    if (is_proved(effect)) return effect;
  return finding.effects.front();
}

/// "is 12% slower": by the proof, or else as the bisection measured it.
std::string claim_on(Effect const& effect) {
  auto const metric = effect.series.metric;
  if (!is_proved(effect)) return words::claim(metric, effect.before, effect.after);
  return words::claim(metric, effect.proof->before, effect.proof->after);
}

bool is_sure(Effect const& effect, Bisection const& bisection) {
  return effect.probability >= words::certain && bisection.outcome != BisectionOutcome::undecided;
}

/// "[`0123456789ab`](...) `Subject` ([#7](...), `Jane Doe`), a merge of 5 commits".
std::string named_commit(Claim const& claim, std::string const& project) {
  auto const& [finding, bisection] = claim;
  auto const& commit = finding->suspects.front();
  auto text = commit_link(commit.sha, project) + " " + verbatim(commit.subject) +
              credit_of(commit, project);
  if (finding->merged > 0) text += ", a merge of " + words::commits(finding->merged);
  if (bisection->inside)
    text += ", which came with merge " + commit_link(bisection->inside->merge, project);
  return text;
}

/// " since ...", the cause that a finding names.
std::string cause_of(Claim const& claim, std::string const& project) {
  auto const& finding = *claim.finding;
  auto const kind = kind_of(finding);
  if (kind == FindingKind::layout)
    return " in only one of two builds of " + named_commit(claim, project) +
           ", so the commit is not to blame";
  if (finding.suspects.size() == 1) {
    std::string const how_sure = is_culprit(finding) ? " " : ", most likely ";
    std::string const link = finding.missing > 0 ? "because the candidate lacks " : "since ";
    return how_sure + link + named_commit(claim, project);
  }
  auto const& suspects = finding.suspects;
  auto const range = finding.missing > 0 ? std::string{}
                                         : fmt::format(" from {} to {}",
                                                       commit_link(suspects.front().sha, project),
                                                       commit_link(suspects.back().sha, project));
  if (finding.is_gradual)
    return fmt::format(
        " since {} commits{}, of which many contribute a little each", suspects.size(), range);
  return fmt::format("{} since one of {} commits{}, listed under \"Bisection\"",
                     is_sure(main_effect(finding), *claim.bisection) ? "" : ", most likely",
                     suspects.size(),
                     range);
}

/// " Confidence 99.6%, but not proved against its parent."; empty where it is not known.
std::string confidence_in(Finding const& finding) {
  auto const probability = main_effect(finding).probability;
  if (probability <= 0) return {};
  bool const is_unproved = finding.suspects.size() == 1 && !is_culprit(finding) &&
                           kind_of(finding) != FindingKind::layout;
  return fmt::format(" Confidence {}{}.",
                     words::probability(probability),
                     is_unproved ? ", but not proved against its parent" : "");
}

/// " Also affected: `test_eval[dlrm-cpu-eager]` is 9.0% slower."; empty without other series.
std::string others_of(Finding const& finding) {
  auto const& first = main_effect(finding);
  std::string text;
  std::size_t count = 0;
  for (auto const& effect : finding.effects) {
    if (effect.series == first.series || is_proved(effect) != is_proved(first)) continue;
    if (++count > max_others) continue;
    auto const fleet =
        effect.series.fleet == first.series.fleet ? "" : " on " + verbatim(effect.series.fleet);
    text += fmt::format("{}{}{} {}",
                        text.empty() ? " Also affected: " : ", ",
                        verbatim(name_of(effect.series.benchmark)),
                        fleet,
                        claim_on(effect));
  }
  if (count > max_others) text += fmt::format(" and {} more series", count - max_others);
  return text.empty() ? text : text + ".";
}

std::string paragraph_of(Claim const& claim, std::string const& project) {
  auto const& finding = *claim.finding;
  auto const& effect = main_effect(finding);
  return fmt::format("{} {}{}.{}{}\n\n",
                     verbatim(name_of(effect.series.benchmark)),
                     claim_on(effect),
                     cause_of(claim, project),
                     confidence_in(finding),
                     others_of(finding));
}

/// True when another bisection has a better claim on the series.
bool is_answered(Claim const& claim, std::span<Claim const> better) {
  auto const& series = main_effect(*claim.finding).series;
  return std::ranges::any_of(better, [&](Claim const& other) {
    return other.bisection != claim.bisection && rank_of(other) < rank_of(claim) &&
           main_effect(*other.finding).series == series;
  });
}

bool is_named(Series const& series, std::span<Bisection const> bisections) {
  return std::ranges::any_of(bisections, [&](Bisection const& bisection) {
    return std::ranges::any_of(bisection.findings, [&](Finding const& finding) {
      return std::ranges::count(finding.effects, series, &Effect::series) > 0;
    });
  });
}

bool has_findings(std::span<Bisection const> bisections) {
  return std::ranges::any_of(
      bisections, [](Bisection const& bisection) { return !bisection.findings.empty(); });
}

std::string_view sentence_on_outcome(Bisection const& bisection) {
  bool const is_of_nightlies = measured_nightlies_alone(bisection);
  if (!bisection.outcome) return "No commit is known.";
  switch (*bisection.outcome) {
    case BisectionOutcome::culprit:
    case BisectionOutcome::range:
      return is_of_nightlies ? "No commit is known: only nightlies were measured."
                             : "No commit is known: the bisection named none.";
    case BisectionOutcome::environment:
      return "No commit is to blame: the two nightlies were built or packaged with different "
             "dependencies.";
    case BisectionOutcome::not_reproduced:
      return is_of_nightlies
                 ? "But it was not reproduced: both nightlies were measured again, and did "
                   "not differ."
                 : "But it was not reproduced: both commits were built and measured again, "
                   "and did not differ.";
    case BisectionOutcome::layout:
      return "No commit is to blame: only one build differs. The same commits, built with another "
             "memory layout, do not.";
    case BisectionOutcome::undecided:
      return "No commit is known: the bisection ended before it was sure.";
  }
  return "No commit is known.";
}

std::string_view sentence_on(Bisection const& bisection) {
  switch (bisection.state) {
    case BisectionState::queued:
      return "No commit is known yet: the bisection has not begun.";
    case BisectionState::running:
      return "No commit is known yet: the bisection is running.";
    case BisectionState::paused:
      return "No commit is known yet: the bisection is paused.";
    case BisectionState::cancelled:
      return "No commit is known: the bisection was cancelled.";
    case BisectionState::failed:
      return "No commit is known: the bisection failed.";
    case BisectionState::done:
      break;
  }
  return sentence_on_outcome(bisection);
}

/// The state of the last bisection that is done, or else of the last one.
std::string bisection_sentence(IncidentStory const& story,
                               std::string const& project,
                               std::string_view no_bisection) {
  if (story.bisections.empty())
    return std::string{no_bisection.empty() ? "No bisection was run." : no_bisection} +
           " All commits between the two nightlies: " +
           compare_link(story.baseline.commit, story.nightly.commit, project);
  auto const* newest = &story.bisections.back();
  for (auto const& bisection : story.bisections)
    if (bisection.state == BisectionState::done) newest = &bisection;
  return std::string{sentence_on(*newest)};
}

}  // namespace

std::string claims_story(std::span<Bisection const> bisections, std::string const& project) {
  std::vector<Claim> claims;
  for (auto const& bisection : bisections)
    for (auto const& finding : bisection.findings)
      claims.push_back({&finding, &bisection});
  std::ranges::stable_sort(claims, {}, rank_of);
  std::string text;
  std::size_t shown = 0;
  std::size_t left_out = 0;
  for (auto const& claim : claims) {
    if (is_answered(claim, claims)) continue;
    auto const paragraph = paragraph_of(claim, project);
    if (text.find(paragraph) != std::string::npos) continue;
    if (shown == max_claims) {
      ++left_out;
      continue;
    }
    text += paragraph;
    ++shown;
  }
  if (left_out > 0) text += fmt::format("{} more under \"Bisection\".\n\n", left_out);
  return text;
}

std::string opening(IncidentStory const& story,
                    std::vector<SeriesChange> const& changes,
                    std::string const& project,
                    std::string_view no_bisection) {
  if (has_findings(story.bisections)) return claims_story(story.bisections, project);
  auto const bisection = bisection_sentence(story, project, no_bisection);
  if (changes.empty()) return "All series are muted. " + bisection + "\n\n";
  auto const& [series, comparison, muted] = changes.front();
  return fmt::format("{} {} since nightly {}. Confidence {}. {}\n\n",
                     verbatim(name_of(series.benchmark)),
                     words::claim(series.metric, comparison.before, comparison.after),
                     verbatim(story.nightly.date),
                     words::confidence(comparison.error_bound),
                     bisection);
}

std::string unexplained_sentence(IncidentStory const& story,
                                 std::vector<SeriesChange> const& changes) {
  if (!has_findings(story.bisections)) return {};
  SeriesChange const* first = nullptr;
  std::size_t count = 0;
  for (auto const& change : changes) {
    if (is_named(change.series, story.bisections)) continue;
    if (first == nullptr) first = &change;
    ++count;
  }
  if (first == nullptr) return {};
  auto const& comparison = first->comparison;
  return fmt::format(" No commit is known for {}, which {}{}.",
                     verbatim(name_of(first->series.benchmark)),
                     words::claim(first->series.metric, comparison.before, comparison.after),
                     count > 1 ? fmt::format(", and {} more series", count - 1) : "");
}

}  // namespace torchwatch::github
