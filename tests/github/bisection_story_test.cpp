#include "github/bisection_story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/github/stories.h"

namespace torchwatch::github {
namespace {

using testing::HasSubstr;
using testing::Not;

Bisection search_of(IncidentStory const& story) {
  return story.bisections.front();
}

std::string told(Bisection const& bisection) {
  return bisection_story(bisection, "https://github.com/pytorch/pytorch");
}

TEST(BisectionStory, SaysWhyItEndedWithoutAnAnswerOrGoesOn) {
  auto search = search_of(culprit_story());
  search.state = BisectionState::failed;
  search.failure = "repository is gone";
  EXPECT_THAT(told(search), HasSubstr("**The bisection failed:** `repository is gone`"));
  search.state = BisectionState::cancelled;
  EXPECT_THAT(told(search), HasSubstr("**The bisection was cancelled.**"));
  search.state = BisectionState::paused;
  EXPECT_THAT(told(search), HasSubstr("**The bisection is paused.**"));
  search.state = BisectionState::running;
  EXPECT_THAT(told(search), HasSubstr("**The bisection has not finished yet.**"));
}

TEST(BisectionStory, AccusesNobodyWhoseProofFailed) {
  auto search = search_of(culprit_story());
  auto& finding = search.findings.front();
  finding.effects.front().proof->verdict = Verdict::unchanged;
  finding.effects.back().proof->verdict = Verdict::inconclusive;
  auto const text = told(search);
  EXPECT_THAT(
      text, HasSubstr("**Most likely commit (not confirmed against its parent): [`cccccccccccc`]"));
  EXPECT_THAT(text, HasSubstr("_cmem` on `local`: no change against its parent: +29.2%"));
  EXPECT_THAT(text, HasSubstr("inconclusive against its parent: +11.9%"));
  EXPECT_THAT(text, Not(HasSubstr("Culprit")));
}

TEST(BisectionStory, SaysWhatWasNotMeasuredAgainstTheParent) {
  auto search = search_of(culprit_story());
  auto& finding = search.findings.front();
  finding.effects.back().proof.reset();
  EXPECT_THAT(told(search), HasSubstr("**Culprit: "));
  EXPECT_THAT(told(search),
              HasSubstr("41.3 ms to 46.2 ms during the bisection, not compared with its parent; "
                        "confidence 99.6%"));
  finding.effects.front().proof.reset();
  EXPECT_THAT(told(search), HasSubstr("**Most likely commit (not compared with its parent): "));
}

TEST(BisectionStory, SaysWhenTheNightliesDidNotDifferEither) {
  auto search = search_of(environment_story());
  search.outcome = BisectionOutcome::not_reproduced;
  auto& verdict = search.packages->changes.front().comparison.verdict;
  verdict = Verdict::unchanged;
  auto const text = told(search);
  EXPECT_THAT(text, HasSubstr("**Not reproduced:**"));
  EXPECT_THAT(text, HasSubstr("The nightly builds no longer differ either"));
  EXPECT_THAT(text, HasSubstr("only the good one: `g++ (Debian 12.2.0-14) 12.2.0`"));
  verdict = Verdict::inconclusive;
  EXPECT_THAT(told(search), HasSubstr("Comparing the nightly builds again was inconclusive."));
  verdict = Verdict::regression;
  EXPECT_THAT(told(search), HasSubstr("built differently from the bisection's"));
}

TEST(BisectionStory, SaysWhenOnlyNightliesWereMeasured) {
  auto search = search_of(not_reproduced_story());
  search.steps.front().stage = BisectionStage::nightlies;
  EXPECT_THAT(told(search), HasSubstr("the nightly builds did not differ"));
  EXPECT_THAT(told(search), Not(HasSubstr("both commits were built")));
}

TEST(BisectionStory, TellsThatTheNightliesDifferByMoreThanTheCulprit) {
  auto search = search_of(culprit_story());
  search.packages = Packages{{"+ <b>@everyone"}, {}};
  auto const text = told(search);
  EXPECT_THAT(text, HasSubstr("**Culprit: "));
  EXPECT_THAT(text, HasSubstr("the two nightly builds differ in:"));
  EXPECT_THAT(text, HasSubstr("only the bad one: `<b>@everyone`"));
}

TEST(BisectionStory, AdmitsThatADifferenceCannotBeSeen) {
  auto search = search_of(environment_story());
  search.packages->differences.clear();
  EXPECT_THAT(told(search), HasSubstr("ask whoever made them"));
  search.outcome = BisectionOutcome::not_reproduced;
  EXPECT_THAT(told(search), Not(HasSubstr("ask whoever made them")));
}

TEST(BisectionStory, KeepsToTheFirstDifferences) {
  auto search = search_of(environment_story());
  search.packages->differences.assign(100, "+ line");
  EXPECT_THAT(told(search), HasSubstr("- and 80 more\n"));
}

TEST(BisectionStory, CallsNoImprovementACulprit) {
  auto search = search_of(improvement_story());
  search.findings.erase(search.findings.begin());
  EXPECT_THAT(told(search), HasSubstr("**Improved by [`cccccccccccc`]"));
  EXPECT_THAT(told(search), HasSubstr("offsets 60% of the regression"));
  search.findings.front().effects.front().proof.reset();
  EXPECT_THAT(told(search),
              HasSubstr("**Most likely commit of an improvement (not compared with its parent):"));
  search.findings.front().suspects.push_back(taping_commit());
  EXPECT_THAT(told(search),
              HasSubstr("**No single commit.** An improvement came with one of these 2 commits"));
  EXPECT_THAT(told(search), Not(HasSubstr("ulprit")));
}

TEST(BisectionStory, AccusesNobodyForAProvedImprovementAlone) {
  auto search = search_of(culprit_story());
  auto& effects = search.findings.front().effects;
  effects.back().proof.reset();
  effects.front().proof->verdict = Verdict::improvement;
  EXPECT_THAT(told(search), HasSubstr("**Improved by "));
  EXPECT_THAT(told(search), Not(HasSubstr("Culprit")));
}

TEST(BisectionStory, SaysWhenARevertDoesNotHelp) {
  auto search = search_of(culprit_story());
  auto& check = search.findings.front().effects.back().revert_check.value();
  EXPECT_THAT(told(search), HasSubstr("; reverting it on the newest commit undoes this: -10.4%"));
  check.verdict = Verdict::unchanged;
  EXPECT_THAT(told(search), HasSubstr("; reverting it on the newest commit does not undo this: "));
  check.verdict = Verdict::inconclusive;
  EXPECT_THAT(told(search), HasSubstr("; reverting it on the newest commit was inconclusive: "));
  search.findings.front().no_revert_check = "git revert does not apply";
  EXPECT_THAT(told(search), HasSubstr("- No revert check: `git revert does not apply`\n"));
}

TEST(BisectionStory, StatesNoConfidenceThatIsNotKnown) {
  auto search = search_of(culprit_story());
  for (auto& effect : search.findings.front().effects)
    effect.probability = 0;
  EXPECT_THAT(told(search), Not(HasSubstr("confidence")));
}

TEST(BisectionStory, KeepsTheSeriesOfAFindingShort) {
  auto search = search_of(culprit_story());
  auto& effects = search.findings.front().effects;
  effects.resize(11, effects.back());
  EXPECT_THAT(told(search), HasSubstr("\n- and 3 more series\n"));
}

TEST(BisectionStory, DoesWithoutFindings) {
  auto search = search_of(culprit_story());
  search.findings.clear();
  EXPECT_THAT(told(search), HasSubstr("**The bisection named no commit.**"));
  search.outcome = BisectionOutcome::undecided;
  EXPECT_THAT(told(search), HasSubstr("ran out of budget before it was sure.\n"));
}

TEST(BisectionStory, GivesTheLastReasonWhyASuspectIsListed) {
  auto search = search_of(range_story());
  search.steps.push_back(skipped_step(3, "c", 'c'));
  search.steps.back().note = "the disk is full";
  EXPECT_THAT(told(search), HasSubstr("could not be built or measured: `the disk is full`"));
  EXPECT_THAT(told(search), Not(HasSubstr("exit status 125")));
}

}  // namespace
}  // namespace torchwatch::github
