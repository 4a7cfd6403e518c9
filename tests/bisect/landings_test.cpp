#include "bisect/git/landings.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

CommitSha sha_of(char digit) {
  return CommitSha{std::string(40, digit)};
}

Landing landing_of(char digit, std::string message) {
  return {sha_of(digit), std::move(message)};
}

Commit culprit() {
  Commit commit;
  commit.sha = sha_of('c');
  commit.subject = "Speed up add (#102)";
  commit.pull_request = 102;
  return commit;
}

Landing revert_of_culprit() {
  return landing_of('d',
                    "Revert \"Speed up add (#102)\"\n\nThis reverts commit " + sha_of('c').hex +
                        ".\n\nReverted https://github.com/pytorch/pytorch/pull/102 on behalf of "
                        "https://github.com/ada due to breaks internal builds\n");
}

TEST(StandingRevert, IsTheCommitThatNamesTheCulprit) {
  EXPECT_EQ(standing_revert(culprit(), {landing_of('a', "Docs"), revert_of_culprit()}),
            sha_of('d'));
  EXPECT_EQ(standing_revert(culprit(), {landing_of('a', "Docs")}), std::nullopt);
  EXPECT_EQ(standing_revert(culprit(), {}), std::nullopt);
}

TEST(StandingRevert, OfAnotherLandingOfThePullRequest_IsNotTheCulprits) {
  auto revert = revert_of_culprit();
  revert.message.replace(revert.message.find(sha_of('c').hex), 40, sha_of('b').hex);
  EXPECT_EQ(standing_revert(culprit(), {revert}), std::nullopt);
}

TEST(StandingRevert, IsKnownByPullRequestOrTitleWhereNoCommitIsNamed) {
  EXPECT_EQ(standing_revert(culprit(), {landing_of('d', "Revert \"Speed up add (#102)\" (#130)")}),
            sha_of('d'));
  EXPECT_EQ(standing_revert(culprit(), {landing_of('d', "Revert \"Speed up add\" (#130)")}),
            sha_of('d'));
  EXPECT_EQ(standing_revert(culprit(), {landing_of('d', "Revert \"Speed up add (#103)\"")}),
            std::nullopt);
  EXPECT_EQ(standing_revert(culprit(), {landing_of('d', "Revert \"Speed up mul\"")}),
            std::nullopt);
}

TEST(StandingRevert, ThatWasRevertedItself_IsNone) {
  auto const by_commit =
      landing_of('e', "Revert \"Revert it\"\n\nThis reverts commit " + sha_of('d').hex + ".\n");
  EXPECT_EQ(standing_revert(culprit(), {revert_of_culprit(), by_commit}), std::nullopt);
  auto const by_title = landing_of('e', "Revert \"Revert \"Speed up add (#102)\" (#130)\" (#131)");
  EXPECT_EQ(standing_revert(culprit(), {revert_of_culprit(), by_title}), std::nullopt);
}

TEST(StandingRevert, BeforeAReland_IsNone_AndOfTheReland_StandsAgain) {
  auto const reland = landing_of(
      'e', "Speed up add\n\nPull Request resolved: https://github.com/pytorch/pytorch/pull/102\n");
  EXPECT_EQ(standing_revert(culprit(), {revert_of_culprit(), reland}), std::nullopt);
  auto const again = landing_of(
      'f', "Revert \"Speed up add\"\n\nThis reverts commit " + sha_of('e').hex + ".\n");
  EXPECT_EQ(standing_revert(culprit(), {revert_of_culprit(), reland, again}), sha_of('f'));
}

TEST(LandsAgain, TheSamePullRequest) {
  EXPECT_TRUE(lands_again("Another title (#102)", culprit()));
  EXPECT_FALSE(lands_again("Another title (#103)", culprit()));
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
    EXPECT_TRUE(lands_again(subject, culprit())) << subject;
  for (std::string const subject :
       {"Speed up add and mul (#140)", "Revert \"Speed up add\" (#140)", "[reland]", ""})
    EXPECT_FALSE(lands_again(subject, culprit())) << subject;
}

TEST(LandsAgain, ThePullRequestThatALineSaysItRelands) {
  EXPECT_TRUE(lands_again("Faster add (#140)\n\nThis is a reland of #102.\n", culprit()));
  EXPECT_TRUE(lands_again(
      "Faster add\n\nRelands https://github.com/pytorch/pytorch/pull/102 with a fix", culprit()));
  EXPECT_FALSE(lands_again("Faster add (#140)\n\nThis is a reland of #1021.\n", culprit()));
  EXPECT_FALSE(lands_again("Faster add (#140)\n\nFollows up on #102.\n", culprit()));
}

TEST(LandsAgain, TakesSubjectsOfAnyLength) {
  EXPECT_FALSE(lands_again(std::string(1'000'000, '"'), culprit()));
}

}  // namespace
}  // namespace torchwatch::bisect
