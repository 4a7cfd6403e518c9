#include "bisect/git/landings.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

CommitSha hash_of(char digit) {
  return CommitSha{std::string(40, digit)};
}

Landing landing_of(char digit, std::string message) {
  return {hash_of(digit), std::move(message)};
}

Commit slow_commit() {
  Commit commit;
  commit.sha = hash_of('c');
  commit.subject = "Speed up add (#102)";
  commit.pull_request = 102;
  return commit;
}

Landing revert_of_slow_commit() {
  return landing_of('d',
                    "Revert \"Speed up add (#102)\"\n\nThis reverts commit " + hash_of('c').hex +
                        ".\n\nReverted https://github.com/pytorch/pytorch/pull/102 on behalf of "
                        "https://github.com/ada due to breaks internal builds\n");
}

TEST(StandingRevert, IsTheCommitThatNamesTheCulprit) {
  EXPECT_EQ(standing_revert(slow_commit(), {landing_of('a', "Docs"), revert_of_slow_commit()}),
            hash_of('d'));
  EXPECT_EQ(standing_revert(slow_commit(), {landing_of('a', "Docs")}), std::nullopt);
  EXPECT_EQ(standing_revert(slow_commit(), {}), std::nullopt);
}

TEST(StandingRevert, OfAnotherLandingOfThePullRequest_IsNotTheCulprits) {
  auto revert = revert_of_slow_commit();
  revert.message.replace(revert.message.find(hash_of('c').hex), 40, hash_of('b').hex);
  EXPECT_EQ(standing_revert(slow_commit(), {revert}), std::nullopt);
}

TEST(StandingRevert, IsKnownByPullRequestOrTitleWhereNoCommitIsNamed) {
  for (std::string const subject :
       {"Revert \"Speed up add (#102)\" (#130)", "Revert \"Speed up add\" (#130)"})
    EXPECT_EQ(standing_revert(slow_commit(), {landing_of('d', subject)}), hash_of('d')) << subject;
  for (std::string const subject :
       {"Revert \"Speed up add (#103)\"", "Revert \"Speed up mul\"", "Revert \""})
    EXPECT_EQ(standing_revert(slow_commit(), {landing_of('d', subject)}), std::nullopt) << subject;
}

TEST(StandingRevert, ThatWasRevertedItself_IsNone) {
  auto const by_commit =
      landing_of('e', "Revert \"Revert it\"\n\nThis reverts commit " + hash_of('d').hex + ".\n");
  EXPECT_EQ(standing_revert(slow_commit(), {revert_of_slow_commit(), by_commit}), std::nullopt);
  auto const by_title = landing_of('e', "Revert \"Revert \"Speed up add (#102)\" (#130)\" (#131)");
  EXPECT_EQ(standing_revert(slow_commit(), {revert_of_slow_commit(), by_title}), std::nullopt);
}

TEST(StandingRevert, BeforeAReland_IsNone_AndOfTheReland_StandsAgain) {
  auto const reland = landing_of(
      'e', "Speed up add\n\nPull Request resolved: https://github.com/pytorch/pytorch/pull/102\n");
  EXPECT_EQ(standing_revert(slow_commit(), {revert_of_slow_commit(), reland}), std::nullopt);
  auto const again =
      landing_of('f', "Revert \"Speed up add\"\n\nThis reverts commit " + hash_of('e').hex + ".\n");
  EXPECT_EQ(standing_revert(slow_commit(), {revert_of_slow_commit(), reland, again}), hash_of('f'));
}

TEST(LandsAgain, TheSamePullRequest) {
  EXPECT_TRUE(lands_again("Another title (#102)", slow_commit()));
  EXPECT_FALSE(lands_again("Another title (#103)", slow_commit()));
}

TEST(LandsAgain, TheSameTitleWithOrWithoutMarks) {
  for (std::string const subject : {"Speed up add (#140)",
                                    "Reland \"Speed up add (#102)\" (#140)",
                                    "Reland of \"Speed up add\" (#140)",
                                    "[reland] Speed up add (#140)",
                                    "[Reland 2] Speed up add (#140)",
                                    "[RELAND] Speed up add",
                                    "Re-land Speed up add",
                                    "Reland: Speed up add",
                                    "Reapply \"Speed up add (#102)\" (#140)",
                                    "Revert \"Revert \"Speed up add (#102)\"\"",
                                    "Revert \"Revert \"Speed up add (#102)\" (#130)\" (#140)"})
    EXPECT_TRUE(lands_again(subject, slow_commit())) << subject;
  for (std::string const subject :
       {"Speed up add and mul (#140)", "Revert \"Speed up add\" (#140)", "[reland]", ""})
    EXPECT_FALSE(lands_again(subject, slow_commit())) << subject;
}

TEST(LandsAgain, ThePullRequestThatALineSaysItRelands) {
  EXPECT_TRUE(lands_again("Faster add (#140)\n\nThis is a reland of #102.\n", slow_commit()));
  EXPECT_TRUE(lands_again(
      "Faster add\n\nRelands https://github.com/pytorch/pytorch/pull/102, fixed", slow_commit()));
  EXPECT_FALSE(lands_again("Faster add (#140)\n\nThis is a reland of #1021.\n", slow_commit()));
  EXPECT_FALSE(lands_again("Faster add (#140)\n\nFollows up on #102.\n", slow_commit()));
}

TEST(LandsAgain, NotByARevertThatPromisesAReland) {
  EXPECT_FALSE(
      lands_again("Revert \"Speed up add (#102)\"\n\nWe will reland #102 later.\n", slow_commit()));
}

TEST(LandsAgain, TakesSubjectsOfAnyLength) {
  EXPECT_FALSE(lands_again(std::string(1'000'000, '"'), slow_commit()));
}

Defect slow_add() {
  return {slow_commit(), "https://github.com/pytorch/pytorch/issues/77"};
}

TEST(SaysFixed, NamesTheIssueWithAWordThatClosesIt) {
  for (std::string const message : {"Faster add (#150)\n\nFixes #77\n",
                                    "Faster add\n\nThis closes pytorch/pytorch#77.\n",
                                    "Resolved https://github.com/pytorch/pytorch/issues/77"})
    EXPECT_TRUE(says_fixed(message, slow_add())) << message;
  for (std::string const message : {"Faster add (#150)\n\nFixes #771\n",
                                    "Faster add\n\nSee #77\n",
                                    "Faster add\n\nprefix of #77\n",
                                    "Fixes it\n\nSee #77\n"})
    EXPECT_FALSE(says_fixed(message, slow_add())) << message;
}

TEST(SaysFixed, ABareNumberMeansAnIssueOfTheWatchedProjectAlone) {
  Defect const reported_elsewhere{slow_commit(), "https://github.com/ada/reports/issues/77"};
  EXPECT_FALSE(says_fixed("Faster add\n\nFixes #77\n", reported_elsewhere));
  EXPECT_TRUE(says_fixed("Faster add\n\nFixes ada/reports#77\n", reported_elsewhere));
  EXPECT_FALSE(says_fixed("Faster add\n\nFixes #77\n", {slow_commit(), "/reports/77.md"}));
}

TEST(SaysFixed, NamesTheCulpritAsFixed) {
  EXPECT_TRUE(says_fixed("Fix the regression of #102 (#150)", slow_add()));
  EXPECT_TRUE(says_fixed("Faster add\n\nFixes what cccccccccccc made slow.\n", slow_add()));
  EXPECT_FALSE(says_fixed("Faster add\n\nFixes what ccccc made slow.\n", slow_add()));
  EXPECT_FALSE(says_fixed("Faster add\n\nFollows up on #102.\n", slow_add()));
}

TEST(SaysFixed, NotByARelandOfTheCulprit) {
  auto defect = slow_add();
  defect.culprit->subject = "Fix add (#102)";
  EXPECT_FALSE(says_fixed("Reland \"Fix add (#102)\" (#150)", defect));
}

/// Returns the fix that is found in commits that land one after the other.
std::optional<CommitSha> standing_fix(Defect const& defect, std::vector<Landing> const& later) {
  FixFinder one_by_one{defect};
  for (auto const& landing : later)
    one_by_one.add({landing});
  FixFinder at_once{defect};
  at_once.add(later);
  EXPECT_EQ(one_by_one.fix(), at_once.fix());
  return at_once.fix();
}

TEST(StandingFix, IsTheRevertElseTheFirstFixThatNoCommitReverted) {
  auto const fix = landing_of('e', "Faster add (#150)\n\nFixes #77\n");
  auto const undone = landing_of(
      'f', "Revert \"Faster add (#150)\"\n\nThis reverts commit " + hash_of('e').hex + ".\n");
  auto const second = landing_of('a', "Fix the regression of #102 (#160)");
  EXPECT_EQ(standing_fix(slow_add(), {fix, revert_of_slow_commit()}), hash_of('d'));
  EXPECT_EQ(standing_fix(slow_add(), {fix}), hash_of('e'));
  EXPECT_EQ(standing_fix(slow_add(), {fix, undone}), std::nullopt);
  EXPECT_EQ(standing_fix(slow_add(), {fix, undone, second}), hash_of('a'));
  EXPECT_EQ(standing_fix({std::nullopt, slow_add().issue}, {fix}), hash_of('e'));
  EXPECT_EQ(standing_fix(slow_add(), {}), std::nullopt);
}

TEST(StandingFix, IsTheRevertOfTheLastReland) {
  auto const reland = landing_of(
      'e', "Speed up add\n\nPull Request resolved: https://github.com/pytorch/pytorch/pull/102\n");
  auto const again =
      landing_of('f', "Revert \"Speed up add\"\n\nThis reverts commit " + hash_of('e').hex + ".\n");
  EXPECT_EQ(standing_fix(slow_add(), {revert_of_slow_commit(), reland}), std::nullopt);
  EXPECT_EQ(standing_fix(slow_add(), {revert_of_slow_commit(), reland, again}), hash_of('f'));
}

TEST(LandedAgain, IsTheFirstCommitThatLandsTheChangeAgain) {
  auto const reland = landing_of('e', "Reland \"Speed up add (#102)\" (#140)");
  EXPECT_EQ(landed_again(slow_commit(), {revert_of_slow_commit(), reland}), hash_of('e'));
  EXPECT_EQ(landed_again(slow_commit(), {revert_of_slow_commit()}), std::nullopt);
}

}  // namespace
}  // namespace torchwatch::bisect
