#include "github/bisection_story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/domain/project.h"
#include "tests/github/stories.h"

// The words are those of storage/domain/words, with tests of their own; here is what the story
// makes of them.
namespace torchwatch::github {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string story_of(Bisection const& bisection) {
  return bisection_story(bisection, "https://github.com/pytorch/pytorch");
}

std::string evidence_of(Bisection const& bisection) {
  return evidence_story(bisection, "https://github.com/pytorch/pytorch");
}

TEST(BisectionStory, OfEndedBisection_QuotesForeignReasonsVerbatim) {
  auto bisection = bisection_of(culprit_story());
  bisection.state = BisectionState::failed;
  bisection.failure = "repository of @everyone is gone";
  EXPECT_THAT(story_of(bisection), HasSubstr("**Failed:** `repository of @everyone is gone`."));
  bisection.state = BisectionState::cancelled;
  EXPECT_THAT(story_of(bisection), HasSubstr("**Cancelled.**\n"));
  bisection.state = BisectionState::done;
  bisection.outcome = BisectionOutcome::undecided;
  bisection.request.series = {series_of("resnet18", Metric::latency)};
  bisection.steps = {skipped_step(1, "b", 'b')};
  EXPECT_THAT(story_of(bisection), HasSubstr("; the bad commit: `recipe: exit status 125`.\n"));
}

TEST(BisectionStory, OfOneCommit_LeadsWithItAndItsReason) {
  auto bisection = bisection_of(culprit_story());
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("Culprit proved")));
  for (auto& effect : bisection.findings.front().effects)
    effect.proof->verdict = Verdict::inconclusive;
  auto const text = story_of(bisection);
  EXPECT_THAT(text, HasSubstr("**Most likely commit: [`cccccccccccc`]"));
  EXPECT_THAT(text,
              HasSubstr("`Fuse bias into linear (#86000)` "
                        "([#86000](https://github.com/pytorch/pytorch/pull/86000), `Jane Doe`): "
                        "not confirmed against its parent.\n"));
  EXPECT_THAT(text, Not(HasSubstr("Culprit")));
}

TEST(BisectionStory, OfNightliesAlone_LinksAllCommitsBetweenTheEnds) {
  auto bisection = bisection_of(not_reproduced_story());
  bisection.outcome = BisectionOutcome::range;
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("All that lies between the ends")));
  bisection.steps.front().stage = BisectionStage::nightlies;
  EXPECT_THAT(story_of(bisection), HasSubstr("commits are not built here"));
  EXPECT_THAT(story_of(bisection), HasSubstr("[`aaaaaaaaaaaa...bbbbbbbbbbbb`]"));
}

TEST(BisectionStory, OfDifferentPackages_QuotesTheFirstDifferencesVerbatim) {
  auto bisection = bisection_of(culprit_story());
  bisection.packages = Packages{{"+ <b>@everyone"}, {}};
  auto const text = story_of(bisection);
  EXPECT_THAT(text, HasSubstr("**Culprit: "));
  EXPECT_THAT(text, HasSubstr("the two nightly builds differ:**"));
  EXPECT_THAT(text, HasSubstr("- `+ <b>@everyone`\n"));
  bisection.packages->differences.assign(100, "+ line");
  EXPECT_THAT(story_of(bisection), HasSubstr("- and 80 more\n"));
}

TEST(BisectionStory, OfCommitWithoutPullRequestOrAuthor_NamesWhatThereIs) {
  auto bisection = bisection_of(culprit_story());
  auto& commit = bisection.findings.front().suspects.front();
  commit.pull_request.reset();
  EXPECT_THAT(story_of(bisection), HasSubstr("` (`Jane Doe`): proved"));
  commit.author.clear();
  EXPECT_THAT(story_of(bisection), HasSubstr("(#86000)`: proved against its parent.\n"));
}

TEST(AncestryStory, OfOlderOrSideBuild_LinksWhatIsMissingInIt) {
  auto bisection = bisection_of(culprit_story());
  EXPECT_EQ(ancestry_story(bisection, project_url), "");
  bisection.ancestry = Ancestry{sha_of('b'), 5, 0};
  EXPECT_EQ(ancestry_story(bisection, project_url),
            "**Built from an older commit:** " +
                compare_link(sha_of('b'), sha_of('a'), project_url) + " is missing in " +
                commit_link(sha_of('b'), project_url) + " (5 commits).\n\n");
  bisection.ancestry = Ancestry{sha_of('e'), 1, 2};
  EXPECT_EQ(ancestry_story(bisection, project_url),
            "**Built from a side branch:** " + compare_link(sha_of('e'), sha_of('a'), project_url) +
                " is missing in " + commit_link(sha_of('b'), project_url) + " (1 commit); " +
                compare_link(sha_of('e'), sha_of('b'), project_url) +
                " is only in it (2 commits).\n\n");
}

TEST(BisectionStory, OfCommitsThatTheEndLacks_DoesNotListThemOldestFirst) {
  auto bisection = bisection_of(range_story());
  EXPECT_THAT(story_of(bisection), HasSubstr("Oldest first:"));
  bisection.findings.front().missing = 3;
  EXPECT_THAT(story_of(bisection), HasSubstr("As they were searched:"));
}

TEST(BisectionStory, OfMerge_LinksItAndSaysWhatCameWithIt) {
  auto bisection = bisection_of(culprit_story());
  bisection.inside = SearchedMerge{BisectionId{1}, sha_of('e'), 5};
  auto const text = story_of(bisection);
  EXPECT_THAT(text,
              HasSubstr("Bisected inside merge " + commit_link(sha_of('e'), project_url) +
                        " from " + commit_link(sha_of('a'), project_url) + " (good) to "));
  EXPECT_THAT(text,
              HasSubstr("**Culprit proved:** the change came with merge eeeeeeeeeeee: culprit "
                        "cccccccccccc, one of the 5 commits that it brought.\n\n"));
}

TEST(LandingsStory, OfRevertedCulprit_NamesTheRevert) {
  auto bisection = bisection_of(culprit_story());
  EXPECT_EQ(landings_story(bisection, project_url), "");
  bisection.findings.front().reverted_by = sha_of('d');
  EXPECT_EQ(landings_story(bisection, project_url),
            "**Already reverted on trunk by " + commit_link(sha_of('d'), project_url) +
                ".** Culprit: " + commit_link(sha_of('c'), project_url) +
                " `Fuse bias into linear (#86000)`\n\n");
}

TEST(LandingsStory, OfReland_NamesTheEarlierIncidentAndItsIssue) {
  auto bisection = bisection_of(culprit_story());
  auto& earlier = bisection.findings.front().earlier;
  earlier = EarlierIncident{IncidentId{3}, "2026-11-18", "https://github.com/o/r/issues/7"};
  EXPECT_THAT(landings_story(bisection, project_url),
              HasSubstr("**Landed before:** the culprit of incident 3 of nightly `2026-11-18` "
                        "(https://github.com/o/r/issues/7) had the same title or pull request. "
                        "Culprit: "));
  earlier->report = "/var/lib/torchwatch/reports/incident-3.md";
  EXPECT_THAT(landings_story(bisection, project_url), Not(HasSubstr("/var/lib")));
}

TEST(EvidenceStory, OfMissingRevertCheck_QuotesTheReasonVerbatim) {
  auto bisection = bisection_of(culprit_story());
  bisection.findings.front().no_revert_check = "git revert does not apply";
  EXPECT_THAT(evidence_of(bisection),
              HasSubstr("- No revert check: `git revert does not apply`\n"));
}

TEST(BisectionStory, OfAnyReason_HasNoPathOfTheHost) {
  auto bisection = bisection_of(culprit_story());
  bisection.findings.front().no_revert_check = "recipe: exit status 1, see /srv/logs/a.log";
  bisection.packages = Packages{{"+ /srv/tools/gcc 13"}, {}};
  EXPECT_THAT(evidence_of(bisection), HasSubstr("`recipe: exit status 1, see a.log`"));
  EXPECT_THAT(evidence_of(bisection), Not(HasSubstr("/srv")));
  EXPECT_THAT(story_of(bisection), HasSubstr("`+ gcc 13`"));
  EXPECT_THAT(story_of(bisection), Not(HasSubstr("/srv")));
  bisection.state = BisectionState::failed;
  bisection.failure = "end abc is unbuildable: see /srv/logs/a.log";
  EXPECT_THAT(story_of(bisection), HasSubstr("**Failed:** `end abc is unbuildable: see a.log`."));
}

TEST(EvidenceStory, OfManySeries_ShowsTheFirst) {
  auto bisection = bisection_of(culprit_story());
  auto& effects = bisection.findings.front().effects;
  effects.resize(11, effects.back());
  EXPECT_THAT(evidence_of(bisection), HasSubstr("\n- and 3 more series\n"));
}

TEST(BisectionStory, OfUnsettledSeries_NamesThem) {
  auto bisection = bisection_of(culprit_story());
  auto const named = bisection.findings.front().effects.front().series;
  bisection.steps.emplace_back().beliefs = {
      {named, 0.2, {}, {}, 0},
      {series_of("settled", Metric::latency), 0.99, {}, {}, 0},
      {series_of("open", Metric::latency), 0.6, {}, {}, 0}};
  EXPECT_THAT(story_of(bisection),
              HasSubstr("It is not known whether these series changed:\n\n"
                        "- `test_eval[open-cpu-eager]_latency` on `local`\n\n"));
}

}  // namespace
}  // namespace torchwatch::github
