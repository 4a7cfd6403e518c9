#include "bisect/commit_message.h"

#include <string>

#include <gtest/gtest.h>

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

TEST(PullRequestOf, ARevertIsNotThePullRequestItReverts) {
  EXPECT_EQ(pull_request_of("Revert \"Speed up add (#123)\"\n\nReverted "
                            "https://github.com/pytorch/pytorch/pull/123 on behalf of someone\n"),
            std::nullopt);
  EXPECT_EQ(pull_request_of("Revert \"Speed up add (#123)\" (#130)"), 130);
  EXPECT_EQ(pull_request_of("Revert \"Revert \"Speed up add (#123)\" (#130)\""), std::nullopt);
  EXPECT_EQ(pull_request_of("Revert \"Speed up add (#123)"), std::nullopt);
}

TEST(ParseNightlyRelease, ReadsDateAndTrunkCommit) {
  auto const found = parse_nightly_release("2026-11-20 nightly release (" + trunk + ")", release);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->date, "2026-11-20");
  EXPECT_EQ(found->trunk.hex, trunk);
  EXPECT_EQ(found->release, release);
}

TEST(ParseNightlyRelease, RefusesOtherSubjects) {
  EXPECT_FALSE(parse_nightly_release("2026-13-20 nightly release (" + trunk + ")", release));
  EXPECT_FALSE(parse_nightly_release("2026-11-20 nightly release (abc)", release));
  EXPECT_FALSE(parse_nightly_release("x 2026-11-20 nightly release (" + trunk + ")", release));
  EXPECT_FALSE(parse_nightly_release("Speed up add (#1)", release));
}

}  // namespace
}  // namespace torchwatch::bisect
