#include "bisect/git/commit_message.h"

#include <string>

#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

std::string const trunk(40, 'a');
CommitSha const release{std::string(40, 'b')};

TEST(PullRequestOf, ReadsTheTrailerFirst) {
  EXPECT_EQ(pull_request_of("Speed up add (#1)\n\nBody.\n\n"
                            "Pull Request resolved: https://github.com/pytorch/pytorch/pull/83000\n"
                            "Approved by: https://github.com/someone\n"),
            83000);
}

TEST(PullRequestOf, TakesTheLastTrailerOfSeveral) {
  EXPECT_EQ(pull_request_of("Reland\n\n"
                            "Pull Request resolved: https://github.com/pytorch/pytorch/pull/1\r\n"
                            "Pull Request resolved: https://github.com/pytorch/pytorch/pull/2\r\n"),
            2);
}

TEST(PullRequestOf, FallsBackToTheEndOfTheSubject) {
  EXPECT_EQ(pull_request_of("Speed up add (#123)"), 123);
  EXPECT_EQ(pull_request_of("Speed up add (#123)\n\nFixes (#77)\n"), 123);
  EXPECT_EQ(pull_request_of("Fix (#5) once more"), std::nullopt);
  EXPECT_EQ(pull_request_of("Speed up add (#12x)"), std::nullopt);
  EXPECT_EQ(pull_request_of("Speed up add (#0)"), std::nullopt);
  EXPECT_EQ(pull_request_of("Speed up add (#99999999999)"), std::nullopt);
  EXPECT_EQ(pull_request_of(""), std::nullopt);
}

TEST(PullRequestOf, ReadsEveryTrailerThatTheMergeBotAccepts) {
  std::string const ours = "https://github.com/pytorch/pytorch/pull/154098";
  for (std::string const key :
       {"Pull Request resolved:", "Pull-Request-resolved:", "Pull-Request:"}) {
    EXPECT_EQ(pull_request_of("Speed up add\n\nghstack-source-id: 9bc6dee\n" + key + " " + ours +
                              "\n\nDifferential Revision: D7\n"),
              154098)
        << key;
    EXPECT_EQ(pull_request_of("Speed up add\n\nghstack-source-id: 9bc6dee " + key + " " + ours),
              154098)
        << key << " in the middle of a line";
  }
  EXPECT_EQ(
      pull_request_of("Reland\n\nPull-Request: " + ours +
                      "\nPull Request resolved: https://github.com/PyTorch/pytorch/pull/2.\n"),
      2)
      << "the last one, in any case, with a full stop";
}

TEST(PullRequestOf, IgnoresThoseOfAnotherRepository) {
  EXPECT_EQ(pull_request_of("Speed up add\n\n"
                            "Pull Request resolved: https://github.com/pytorch/vision/pull/12\n"),
            std::nullopt);
  EXPECT_EQ(pull_request_of("Speed up add (#12)\n\n"
                            "Pull Request resolved: https://github.com/pytorch/FBGEMM/pull/12\n"),
            std::nullopt)
      << "the subject has the other repository's number";
  EXPECT_EQ(pull_request_of("Speed up add (#83000)\n\n"
                            "Pull Request resolved: https://github.com/pytorch/FBGEMM/pull/12\n"),
            83000);
  EXPECT_EQ(pull_request_of("Update the pin (#83000)\n\n"
                            "Pull Request resolved: https://github.com/pytorch/pytorch/pull/83000\n"
                            "Pull Request resolved: https://github.com/pytorch/vision/pull/12\n"),
            83000);
  EXPECT_EQ(pull_request_of("Speed up add\n\n"
                            "X-link: https://github.com/pytorch/pytorch/pull/12\n"),
            std::nullopt);
  EXPECT_EQ(pull_request_of("Speed up add (pytorch/vision#12)"), std::nullopt);
  EXPECT_EQ(pull_request_of("Speed up add\n\n"
                            "Pull Request resolved: https://example.org/pytorch/pytorch/pull/12\n"),
            std::nullopt);
}

TEST(PullRequestOf, IgnoresTheOneThatARevertReverts) {
  EXPECT_EQ(pull_request_of("Revert \"Speed up add (#123)\"\n\nReverted "
                            "https://github.com/pytorch/pytorch/pull/123 on behalf of someone\n"),
            std::nullopt);
  EXPECT_EQ(pull_request_of("Revert \"Speed up add (#123)\" (#130)"), 130);
  EXPECT_EQ(pull_request_of("Revert \"Revert \"Speed up add (#123)\" (#130)\""), std::nullopt);
  EXPECT_EQ(pull_request_of("Revert \"Speed up add (#123)"), std::nullopt);
}

TEST(ApproversOf, ListsEachOnce) {
  using testing::ElementsAre;
  EXPECT_THAT(approvers_of("Speed up add (#1)\n\n"
                           "Approved by: https://github.com/ada, https://github.com/carl-c\r\n"
                           "Approved by: https://github.com/ada\n"),
              ElementsAre("ada", "carl-c"));
  EXPECT_THAT(approvers_of("Speed up add\n\nNot Approved by: https://github.com/ada\n"),
              testing::IsEmpty());
  EXPECT_THAT(approvers_of("Approved by: a reviewer, https://github.com/"), testing::IsEmpty());
}

TEST(RevertOf, NamesCommitAndPullRequest) {
  auto const revert = revert_of(
      "Revert \"Speed up add (#123)\" (#130)\n\n"
      "This reverts commit " +
      trunk +
      ".\n\nReverted https://github.com/pytorch/pytorch/pull/124 on "
      "behalf of https://github.com/ada\n");
  ASSERT_TRUE(revert);
  EXPECT_EQ(revert->commit, CommitSha{trunk});
  EXPECT_EQ(revert->pull_request, 124);
}

TEST(RevertOf, ReturnsOnlyTheFieldsInTheMessage) {
  auto const quoted = revert_of("Revert \"Speed up add (#123)\"");
  ASSERT_TRUE(quoted);
  EXPECT_EQ(quoted->commit, std::nullopt);
  EXPECT_EQ(quoted->pull_request, 123);
  auto const bare = revert_of("Revert \"Speed up add\"\n\nThis reverts commit abc.\n");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->commit, std::nullopt);
  EXPECT_EQ(bare->pull_request, std::nullopt);
  EXPECT_FALSE(revert_of("Speed up add (#123)\n\nThis reverts commit " + trunk + ".\n"));
  EXPECT_FALSE(revert_of(""));
}

TEST(RevertOf, IgnoresThePullRequestOfAnotherRepository) {
  auto const revert = revert_of(
      "Revert \"Speed up add (#123)\"\n\n"
      "Reverted https://github.com/pytorch/vision/pull/7 on behalf of someone\n");
  ASSERT_TRUE(revert);
  EXPECT_EQ(revert->pull_request, 123);
}

TEST(ParseNightlyRelease, ReadsDateAndTrunkCommit) {
  auto const found = parse_nightly_release("2026-11-20 nightly release (" + trunk + ")", release);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->date, "2026-11-20");
  EXPECT_EQ(found->trunk.hex, trunk);
  EXPECT_EQ(found->release, release);
}

TEST(ParseNightlyRelease, TakesSubjectsOfAnyLength) {
  auto const subject = "2026-11-20 nightly release (" + trunk + ")" + std::string(10'000'000, ' ');
  EXPECT_TRUE(parse_nightly_release(subject, release));
  EXPECT_FALSE(parse_nightly_release(subject + "x", release));
}

TEST(ParseNightlyRelease, RefusesOtherSubjects) {
  EXPECT_FALSE(parse_nightly_release("2026-13-20 nightly release (" + trunk + ")", release));
  EXPECT_FALSE(parse_nightly_release("2026-11-20 nightly release (abc)", release));
  EXPECT_FALSE(parse_nightly_release("x 2026-11-20 nightly release (" + trunk + ")", release));
  EXPECT_FALSE(parse_nightly_release("Speed up add (#1)", release));
  EXPECT_FALSE(parse_nightly_release("2026-02-30 nightly release (" + trunk + ")", release));
}

}  // namespace
}  // namespace torchwatch::bisect
