#include "github/comment.h"

#include <chrono>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "github/issue.h"
#include "storage/domain/project.h"
#include "tests/github/stories.h"

namespace torchwatch::github {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

CommentDraft comment_on(Bisection const& bisection) {
  return draft_comment(culprit_story(), bisection, project_url);
}

TEST(Comment, OfEndedBisection_HasClaimFindingsEvidenceAndTranscript) {
  auto const comment = comment_on(bisection_of(culprit_story()));

  EXPECT_EQ(comment.report, draft_issue(culprit_story(), {}).key);
  EXPECT_EQ(comment.marker, marker_of(comment.report, bisection_of(culprit_story())));
  EXPECT_THAT(comment.body,
              AllOf(StartsWith(comment.marker + "\nThis bisection ended after"),
                    HasSubstr("` uses 29% more peak CPU memory since [`cccccccccccc`]"),
                    HasSubstr("**Culprit:"),
                    HasSubstr("Fuse bias into linear"),
                    HasSubstr("explains 100% of the regression"),
                    HasSubstr("<summary>Transcript")));
}

TEST(Comment, SaysInItsFirstLinesThatTheCulpritIsRevertedAlready) {
  auto bisection = bisection_of(culprit_story());
  bisection.findings.front().reverted_by = sha_of('d');
  auto const body = comment_on(bisection).body;
  EXPECT_THAT(body.substr(0, body.find("### Bisection")),
              HasSubstr("\n\n**Already reverted on trunk by [`dddddddddddd`]"));
}

TEST(Comment, HasAMarkerOfItsBisection) {
  auto const first = bisection_of(culprit_story());
  auto second = first;
  second.id = BisectionId{2};
  auto of_another_database = first;
  of_another_database.asked_at += std::chrono::seconds{1};

  EXPECT_EQ(comment_on(first).marker, comment_on(first).marker);
  EXPECT_NE(comment_on(first).marker, comment_on(second).marker);
  EXPECT_NE(comment_on(first).marker, comment_on(of_another_database).marker);
  EXPECT_EQ(key_in(comment_on(first).body), std::nullopt) << "no report by itself";
}

TEST(Comment, IsOneThatGithubTakes) {
  auto bisection = bisection_of(range_story());
  auto& suspects = bisection.findings.front().suspects;
  suspects.assign(2000, commit_of('c', "A subject that says something", "Jane", 86000));

  auto const body = comment_on(bisection).body;

  EXPECT_LE(body.size(), max_body_bytes);
  EXPECT_THAT(body, HasSubstr("Cut here: GitHub accepts at most 65536 characters."));
}

}  // namespace
}  // namespace torchwatch::github
