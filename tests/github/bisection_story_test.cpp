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

TEST(SearchStory, SaysWhyASearchEndedWithoutAnAnswerOrGoesOn) {
  auto search = search_of(culprit_story());
  search.state = BisectionState::failed;
  search.failure = "repository is gone";
  EXPECT_THAT(told(search), HasSubstr("**The search failed:** `repository is gone`"));
  search.state = BisectionState::cancelled;
  EXPECT_THAT(told(search), HasSubstr("**The search was cancelled** by a person"));
  search.state = BisectionState::paused;
  EXPECT_THAT(told(search), HasSubstr("**The search is paused** by a person"));
  search.state = BisectionState::running;
  EXPECT_THAT(told(search), HasSubstr("**The search has not ended yet.**"));
}

TEST(SearchStory, AccusesNobodyWhoseProofFailed) {
  auto search = search_of(culprit_story());
  auto& finding = search.findings.front();
  finding.effects.front().proof->verdict = Verdict::unchanged;
  finding.effects.back().proof->verdict = Verdict::inconclusive;
  auto const text = told(search);
  EXPECT_THAT(text, HasSubstr("**Likeliest commit, but its proof failed: [`cccccccccccc`]"));
  EXPECT_THAT(text, HasSubstr("_cmem` on `local`: measured against its parent it did not differ:"));
  EXPECT_THAT(text, HasSubstr("it could not be told whether it differs: +11.9%"));
  EXPECT_THAT(text, Not(HasSubstr("Culprit")));
}

TEST(SearchStory, SaysWhatWasNotMeasuredAgainstTheParent) {
  auto search = search_of(culprit_story());
  auto& finding = search.findings.front();
  finding.effects.back().proof.reset();
  EXPECT_THAT(told(search), HasSubstr("**Culprit: "));
  EXPECT_THAT(told(search),
              HasSubstr("41.3 ms to 46.2 ms as the search saw it, not measured against its parent; "
                        "the search was 99.6% sure"));
  finding.effects.front().proof.reset();
  EXPECT_THAT(told(search), HasSubstr("**Likeliest commit, but not measured against its parent: "));
}

TEST(SearchStory, SaysWhenTheNightliesDidNotDifferEither) {
  auto search = search_of(environment_story());
  search.outcome = BisectionOutcome::not_reproduced;
  auto& verdict = search.packages->changes.front().comparison.verdict;
  verdict = Verdict::unchanged;
  auto const text = told(search);
  EXPECT_THAT(text, HasSubstr("**Not reproduced:**"));
  EXPECT_THAT(text, HasSubstr("Nor did the builds of the nightlies."));
  EXPECT_THAT(text, HasSubstr("only the good one: `g++ (Debian 12.2.0-14) 12.2.0`"));
  verdict = Verdict::inconclusive;
  EXPECT_THAT(told(search), HasSubstr("Of the builds of the nightlies it could not be told."));
  verdict = Verdict::regression;
  EXPECT_THAT(told(search), HasSubstr("made in another way than those of the search"));
}

TEST(SearchStory, SaysWhenOnlyNightliesWereMeasured) {
  auto search = search_of(not_reproduced_story());
  search.steps.front().stage = BisectionStage::nightlies;
  EXPECT_THAT(told(search), HasSubstr("the builds of the nightlies did not differ"));
  EXPECT_THAT(told(search), Not(HasSubstr("built and measured again")));
}

TEST(SearchStory, TellsThatTheNightliesDifferByMoreThanTheCulprit) {
  auto search = search_of(culprit_story());
  search.packages = Packages{{"+ <b>@everyone"}, {}};
  auto const text = told(search);
  EXPECT_THAT(text, HasSubstr("**Culprit: "));
  EXPECT_THAT(text, HasSubstr("the builds of the two nightlies differ by this:"));
  EXPECT_THAT(text, HasSubstr("only the bad one: `<b>@everyone`"));
}

TEST(SearchStory, AdmitsThatADifferenceCannotBeSeen) {
  auto search = search_of(environment_story());
  search.packages->differences.clear();
  EXPECT_THAT(told(search), HasSubstr("cannot be seen from here"));
  search.outcome = BisectionOutcome::not_reproduced;
  EXPECT_THAT(told(search), Not(HasSubstr("cannot be seen from here")));
}

TEST(SearchStory, KeepsToTheFirstDifferences) {
  auto search = search_of(environment_story());
  search.packages->differences.assign(100, "+ line");
  EXPECT_THAT(told(search), HasSubstr("- and 80 more\n"));
}

TEST(SearchStory, CallsNoImprovementACulprit) {
  auto search = search_of(improvement_story());
  search.findings.erase(search.findings.begin());
  EXPECT_THAT(told(search), HasSubstr("**Improved by [`cccccccccccc`]"));
  EXPECT_THAT(told(search), HasSubstr("goes against the incident's change (-60% of it)"));
  search.findings.front().effects.front().proof.reset();
  EXPECT_THAT(told(search), HasSubstr("**Likeliest commit of an improvement, but not measured"));
  search.findings.front().suspects.push_back(taping_commit());
  EXPECT_THAT(told(search), HasSubstr("**No single commit.** An improvement came with one of"));
  EXPECT_THAT(told(search), Not(HasSubstr("ulprit")));
}

TEST(SearchStory, AccusesNobodyForAProvedImprovementAlone) {
  auto search = search_of(culprit_story());
  auto& effects = search.findings.front().effects;
  effects.back().proof.reset();
  effects.front().proof->verdict = Verdict::improvement;
  EXPECT_THAT(told(search), HasSubstr("**Improved by "));
  EXPECT_THAT(told(search), Not(HasSubstr("Culprit")));
}

TEST(SearchStory, KeepsTheSeriesOfAFindingShort) {
  auto search = search_of(culprit_story());
  auto& effects = search.findings.front().effects;
  effects.resize(11, effects.back());
  EXPECT_THAT(told(search), HasSubstr("\n- and 3 more series\n"));
}

TEST(SearchStory, DoesWithoutFindings) {
  auto search = search_of(culprit_story());
  search.findings.clear();
  EXPECT_THAT(told(search), HasSubstr("**The search named no commit.**"));
  search.outcome = BisectionOutcome::undecided;
  EXPECT_THAT(told(search), HasSubstr("budget ended before it was sure.\n"));
}

TEST(SearchStory, GivesTheLastReasonWhyASuspectIsListed) {
  auto search = search_of(range_story());
  search.steps.push_back(skipped_step(3, "c", 'c'));
  search.steps.back().note = "the disk is full";
  EXPECT_THAT(told(search), HasSubstr("could not be built or measured: `the disk is full`"));
  EXPECT_THAT(told(search), Not(HasSubstr("exit status 125")));
}

}  // namespace
}  // namespace torchwatch::github
