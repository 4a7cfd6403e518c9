#include "github/bisection_story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/github/stories.h"

namespace torchwatch::github {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string story_of(Bisection const& bisection) {
  return bisection_story(bisection, "https://github.com/pytorch/pytorch");
}

TEST(BisectionStory, SaysWhyItEndedWithoutAnAnswerOrGoesOn) {
  auto bisection = bisection_of(culprit_story());
  bisection.state = BisectionState::failed;
  bisection.failure = "repository is gone";
  EXPECT_THAT(story_of(bisection), HasSubstr("**The bisection failed:** `repository is gone`"));
  bisection.state = BisectionState::cancelled;
  EXPECT_THAT(story_of(bisection), HasSubstr("**The bisection was cancelled.**"));
  bisection.state = BisectionState::paused;
  EXPECT_THAT(story_of(bisection), HasSubstr("**The bisection is paused.**"));
  bisection.state = BisectionState::running;
  EXPECT_THAT(story_of(bisection), HasSubstr("**The bisection has not finished yet.**"));
}

TEST(BisectionStory, ShowsNoLevelsOfWhatCouldNotBeMeasured) {
  auto bisection = bisection_of(culprit_story());
  Comparison failed;
  failed.pairs = 2;
  bisection.findings.front().effects.front().proof = failed;
  EXPECT_THAT(story_of(bisection),
              HasSubstr("inconclusive against its parent: no figure (2 pairs of processes)"));
}

TEST(BisectionStory, AccusesNobodyWhoseProofFailed) {
  auto bisection = bisection_of(culprit_story());
  auto& finding = bisection.findings.front();
  finding.effects.front().proof->verdict = Verdict::unchanged;
  finding.effects.back().proof->verdict = Verdict::inconclusive;
  auto const text = story_of(bisection);
  EXPECT_THAT(
      text, HasSubstr("**Most likely commit (not confirmed against its parent): [`cccccccccccc`]"));
  EXPECT_THAT(text, HasSubstr("_cmem` on `local`: no change against its parent: +29.2%"));
  EXPECT_THAT(text, HasSubstr("inconclusive against its parent: +11.9%"));
  EXPECT_THAT(text, Not(HasSubstr("Culprit")));
}

TEST(BisectionStory, TellsWhatAnotherLayoutGave) {
  auto bisection = bisection_of(culprit_story());
  auto& effect = bisection.findings.front().effects.back();
  effect.rebuilt =
      Comparison{Verdict::regression, 41.4, 46.2, RatioInterval{1.1159, 1.1009, 1.1309}, 0.001, 8};
  EXPECT_THAT(story_of(bisection),
              HasSubstr(", explains 96% of the regression; when both were built again with another "
                        "layout +11.6% [+10.1%, +13.1%] (41.4 ms to 46.2 ms, 8 pairs"));
  effect.is_doubted = true;
  EXPECT_THAT(story_of(bisection), HasSubstr("and yet no proof: builds of one commit differ"));
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("96% of the regression")));
  effect.is_doubted = false;
  effect.rebuilt->verdict = Verdict::unchanged;
  EXPECT_THAT(story_of(bisection),
              HasSubstr("; no change when both were built again with another layout: "));
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("96% of the regression")));
}

TEST(BisectionStory, SaysWhatWasNotMeasuredAgainstTheParent) {
  auto bisection = bisection_of(culprit_story());
  auto& finding = bisection.findings.front();
  finding.effects.back().proof.reset();
  EXPECT_THAT(story_of(bisection), HasSubstr("**Culprit: "));
  EXPECT_THAT(story_of(bisection),
              HasSubstr("41.3 ms to 46.2 ms during the bisection, not compared with its parent; "
                        "confidence 99.6%"));
  finding.effects.front().proof.reset();
  EXPECT_THAT(story_of(bisection),
              HasSubstr("**Most likely commit (not compared with its parent): "));
}

TEST(BisectionStory, SaysWhenTheNightliesDidNotDifferEither) {
  auto bisection = bisection_of(environment_story());
  bisection.outcome = BisectionOutcome::not_reproduced;
  auto& verdict = bisection.packages->changes.front().comparison.verdict;
  verdict = Verdict::unchanged;
  auto const text = story_of(bisection);
  EXPECT_THAT(text, HasSubstr("**Not reproduced:**"));
  EXPECT_THAT(text, HasSubstr("The nightly builds no longer differ either"));
  EXPECT_THAT(text, HasSubstr("only the good one: `g++ (Debian 12.2.0-14) 12.2.0`"));
  verdict = Verdict::inconclusive;
  EXPECT_THAT(story_of(bisection),
              HasSubstr("Comparing the nightly builds again was inconclusive."));
  verdict = Verdict::regression;
  EXPECT_THAT(story_of(bisection), HasSubstr("built differently from the bisection's"));
}

TEST(BisectionStory, SaysWhenOnlyNightliesWereMeasured) {
  auto bisection = bisection_of(not_reproduced_story());
  bisection.steps.front().stage = BisectionStage::nightlies;
  EXPECT_THAT(story_of(bisection), HasSubstr("the nightly builds did not differ"));
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("both commits were built")));
}

TEST(BisectionStory, TellsThatTheNightliesDifferByMoreThanTheCulprit) {
  auto bisection = bisection_of(culprit_story());
  bisection.packages = Packages{{"+ <b>@everyone"}, {}};
  auto const text = story_of(bisection);
  EXPECT_THAT(text, HasSubstr("**Culprit: "));
  EXPECT_THAT(text, HasSubstr("the two nightly builds differ in:"));
  EXPECT_THAT(text, HasSubstr("only the bad one: `<b>@everyone`"));
}

TEST(BisectionStory, AdmitsThatADifferenceCannotBeSeen) {
  auto bisection = bisection_of(environment_story());
  bisection.packages->differences.clear();
  EXPECT_THAT(story_of(bisection), HasSubstr("ask whoever made them"));
  bisection.outcome = BisectionOutcome::not_reproduced;
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("ask whoever made them")));
}

TEST(BisectionStory, KeepsToTheFirstDifferences) {
  auto bisection = bisection_of(environment_story());
  bisection.packages->differences.assign(100, "+ line");
  EXPECT_THAT(story_of(bisection), HasSubstr("- and 80 more\n"));
}

TEST(BisectionStory, CallsNoImprovementACulprit) {
  auto bisection = bisection_of(improvement_story());
  bisection.findings.erase(bisection.findings.begin());
  EXPECT_THAT(story_of(bisection), HasSubstr("**Improved by [`cccccccccccc`]"));
  EXPECT_THAT(story_of(bisection), HasSubstr("offsets 60% of the regression"));
  bisection.findings.front().effects.front().proof.reset();
  EXPECT_THAT(story_of(bisection),
              HasSubstr("**Most likely commit of an improvement (not compared with its parent):"));
  bisection.findings.front().suspects.push_back(taping_commit());
  EXPECT_THAT(story_of(bisection),
              HasSubstr("**No single commit.** An improvement came with one of these 2 commits"));
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("ulprit")));
}

TEST(BisectionStory, AccusesNobodyForAProvedImprovementAlone) {
  auto bisection = bisection_of(culprit_story());
  auto& effects = bisection.findings.front().effects;
  effects.back().proof.reset();
  effects.front().proof->verdict = Verdict::improvement;
  EXPECT_THAT(story_of(bisection), HasSubstr("**Improved by "));
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("Culprit")));
}

TEST(BisectionStory, SaysWhenARevertDoesNotHelp) {
  auto bisection = bisection_of(culprit_story());
  auto& check = bisection.findings.front().effects.back().revert_check.value();
  EXPECT_THAT(story_of(bisection),
              HasSubstr("; reverting it on the newest commit undoes this: -10.4%"));
  check.verdict = Verdict::unchanged;
  EXPECT_THAT(story_of(bisection),
              HasSubstr("; reverting it on the newest commit does not undo this: "));
  check.verdict = Verdict::inconclusive;
  EXPECT_THAT(story_of(bisection),
              HasSubstr("; reverting it on the newest commit was inconclusive: "));
  bisection.findings.front().no_revert_check = "git revert does not apply";
  EXPECT_THAT(story_of(bisection), HasSubstr("- No revert check: `git revert does not apply`\n"));
}

TEST(BisectionStory, StatesNoConfidenceThatIsNotKnown) {
  auto bisection = bisection_of(culprit_story());
  for (auto& effect : bisection.findings.front().effects)
    effect.probability = 0;
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("confidence")));
}

TEST(BisectionStory, KeepsTheSeriesOfAFindingShort) {
  auto bisection = bisection_of(culprit_story());
  auto& effects = bisection.findings.front().effects;
  effects.resize(11, effects.back());
  EXPECT_THAT(story_of(bisection), HasSubstr("\n- and 3 more series\n"));
}

TEST(BisectionStory, DoesWithoutFindings) {
  auto bisection = bisection_of(culprit_story());
  bisection.findings.clear();
  EXPECT_THAT(story_of(bisection), HasSubstr("**The bisection named no commit.**"));
  bisection.outcome = BisectionOutcome::undecided;
  EXPECT_THAT(story_of(bisection),
              HasSubstr("ran out of readings, or of builds to read, before it was sure.\n"));
}

TEST(BisectionStory, SaysWhichEndCouldNotBeMeasured) {
  auto bisection = bisection_of(culprit_story());
  bisection.findings.clear();
  bisection.outcome = BisectionOutcome::undecided;
  bisection.request.series = {series_of("one", Metric::latency), series_of("two", Metric::cmem)};
  BisectionStep step;
  step.fleet = "local";
  step.skipped = bisection.request.end;
  step.note = "could not be measured: crashed";
  step.benchmark = bisection.request.series[0].benchmark;
  bisection.steps = {step};
  EXPECT_THAT(story_of(bisection), HasSubstr("**Undecided:** the bisection ran out of readings"));
  step.benchmark = bisection.request.series[1].benchmark;
  bisection.steps.push_back(step);
  EXPECT_THAT(story_of(bisection),
              HasSubstr("**Undecided:** the bad commit `could not be measured: crashed`."));
}

TEST(BisectionStory, NamesSeriesOfWhichNothingIsKnown) {
  auto bisection = bisection_of(culprit_story());
  auto const named = bisection.findings.front().effects.front().series;
  bisection.steps.emplace_back().beliefs = {
      {named, 0.2, {}, {}, 0},
      {series_of("settled", Metric::latency), 0.99, {}, {}, 0},
      {series_of("open", Metric::latency), 0.6, {}, {}, 0}};
  EXPECT_THAT(story_of(bisection),
              HasSubstr("Whether anything changed these is not known:\n\n"
                        "- `test_eval[open-cpu-eager]_latency` on `local`\n\n"));
}

TEST(BisectionStory, TellsAGuessAsOne) {
  auto bisection = bisection_of(range_story());
  EXPECT_THAT(story_of(bisection), HasSubstr("The regression came with one of these"));
  for (auto& effect : bisection.findings.front().effects)
    effect.probability = 0.7;
  EXPECT_THAT(story_of(bisection), HasSubstr("The regression most likely came with one of these"));
}

TEST(BisectionStory, GivesTheLastReasonWhyASuspectIsListed) {
  auto bisection = bisection_of(range_story());
  bisection.steps.push_back(skipped_step(3, "c", 'c'));
  bisection.steps.back().note = "the disk is full";
  EXPECT_THAT(story_of(bisection), HasSubstr("could not be built or measured: `the disk is full`"));
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("exit status 125")));
}

}  // namespace
}  // namespace torchwatch::github
