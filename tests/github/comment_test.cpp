#include "github/comment.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "github/issue.h"
#include "github/markdown.h"
#include "storage/domain/project.h"
#include "tests/github/stories.h"

namespace torchwatch::github {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CommentDraft comment_on(IncidentEventKind kind) {
  return draft_comment(culprit_story(), event_of(kind), project_url);
}

TEST(Comment, OnAnExplanation_HasTheClaims) {
  auto const comment = comment_on(IncidentEventKind::explained);

  EXPECT_EQ(comment.report, draft_issue(culprit_story(), {}).key);
  EXPECT_THAT(comment.body,
              AllOf(StartsWith(comment.marker + "\n**Explained**.\n\n"),
                    HasSubstr("` uses 29% more peak CPU memory since [`cccccccccccc`]"),
                    HasSubstr("The description of this incident has the evidence")));
  EXPECT_EQ(key_in(comment.body), std::nullopt) << "no report by itself";
}

TEST(Comment, SaysThatTheCulpritIsRevertedAlready) {
  auto story = culprit_story();
  story.bisections.front().findings.front().reverted_by = sha_of('d');
  auto const event = event_of(IncidentEventKind::explained);
  EXPECT_THAT(draft_comment(story, event, project_url).body,
              HasSubstr("\n\n**Already reverted on trunk by [`dddddddddddd`]"));
}

TEST(Comment, HasAMarkerOfItsEvent) {
  auto story = culprit_story();
  auto const first = event_of(IncidentEventKind::fixed);
  story.events = {first};
  auto later = first;
  later.at += std::chrono::seconds{1};
  auto const marker_by = [&](IncidentEvent const& event) {
    return draft_comment(story, event, project_url).marker;
  };

  EXPECT_EQ(marker_by(first), marker_by(first));
  EXPECT_NE(marker_by(first), marker_by(later));
  EXPECT_NE(marker_by(first), marker_by(event_of(IncidentEventKind::returned)));
  EXPECT_NE(marker_by(first), marker_of(story, first, "github edit_body"));
  EXPECT_EQ(digits_in(marker_by(first)).size(), 32U);
  EXPECT_EQ(digits_in(marker_of("0123")), "") << "a report's marker names no event";
}

TEST(Comment, OnAnEventThatIsStoredAgain_HasTheSameMarker) {
  auto const story = culprit_story();
  auto event = event_of(IncidentEventKind::explained);
  event.detail = "bisection 3";
  auto again = event;
  again.at += std::chrono::hours{1};
  again.detail = "bisection 4";
  EXPECT_EQ(draft_comment(story, event, project_url).marker,
            draft_comment(story, again, project_url).marker);
}

TEST(Comment, IsOneThatGithubTakes) {
  auto story = range_story();
  auto event = event_of(IncidentEventKind::stale);
  event.detail = std::string(100'000, 'x');

  auto const body = draft_comment(story, event, project_url).body;

  EXPECT_LE(body.size(), max_body_bytes);
  EXPECT_THAT(body, HasSubstr("Cut here: GitHub accepts at most 65536 characters."));
}

TEST(Comment, OnAPullRequest_HasProofAndReproduction) {
  auto const story = culprit_story();
  auto const& finding = story.bisections.front().findings.front();
  auto const comment = draft_pull_request_comment(story, finding, project_url);

  EXPECT_EQ(comment.report, "");
  EXPECT_THAT(comment.body,
              AllOf(StartsWith(comment.marker + "\n"),
                    HasSubstr("[`cccccccccccc`](https://github.com/pytorch/pytorch/commit/"),
                    HasSubstr("explains 100% of the regression"),
                    HasSubstr("torchwatch bisect --start " + sha_of('a').hex + " --end " +
                              sha_of('c').hex + " --benchmark 'test_eval[resnet18-cpu-eager]'"),
                    Not(HasSubstr("@"))));
}

TEST(Comment, InPlaceOfAnEditedBody_FoldsTheReport) {
  auto const draft = draft_issue(culprit_story(), {});
  auto const text = comment_in_place_of(draft.body, "<!-- torchwatch-event: 89ab -->");

  EXPECT_THAT(text,
              AllOf(StartsWith("<!-- torchwatch-event: 89ab -->\nThe description was edited"),
                    HasSubstr("<details><summary>The report</summary>"),
                    HasSubstr("3 series are worse in nightly")));
  EXPECT_EQ(key_in(text), std::nullopt) << "only the description is the report";
  EXPECT_LE(comment_in_place_of(std::string(max_body_bytes, 'x'), "m").size(), max_body_bytes);
}

TEST(BodyDigest, IgnoresWhatGithubsEditorChanges) {
  EXPECT_EQ(digest_of_body("a\nb\n"), digest_of_body("a\r\nb"));
  EXPECT_NE(digest_of_body("a\nb"), digest_of_body("a\n\nb"));
  EXPECT_EQ(digest_of_body(""), digest_of_body(" \n"));
}

}  // namespace
}  // namespace torchwatch::github
