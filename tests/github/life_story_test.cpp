#include "github/life_story.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "github/comment.h"
#include "github/issue.h"
#include "storage/domain/project.h"
#include "tests/github/stories.h"

namespace torchwatch::github {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Kind = IncidentEventKind;

/// Compares with tests/data/issues/NAME.md. TORCHWATCH_REGENERATE=1 rewrites the file. Then the
/// test fails, as a reminder to read the difference.
void expect_text(std::string const& comment, std::string const& name) {
  auto const path = std::string{TORCHWATCH_TEST_DATA "/issues/"} + name + ".md";
  if (std::getenv("TORCHWATCH_REGENERATE") != nullptr) {
    std::ofstream{path, std::ios::binary} << comment;
    FAIL() << path << " was rewritten: read the difference";
  }
  std::ifstream file{path, std::ios::binary};
  std::string golden{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(comment, golden) << "TORCHWATCH_REGENERATE=1 rewrites " << path;
}

IncidentStory with_event(Kind kind, IncidentState state, std::string detail) {
  auto story = fixed_story();
  story.incident.state = state;
  story.events = {event_of(kind, state)};
  story.events.front().detail = std::move(detail);
  return story;
}

std::string first_line_of(IncidentStory const& story) {
  auto const paragraph = state_story(story, project_url);
  return paragraph.substr(0, paragraph.find('\n'));
}

void expect_comment(IncidentStory const& story, std::string const& name) {
  expect_text(draft_comment(story, story.events.back(), project_url).body, name);
}

TEST(LifeStory, OfAnExplanation_HasTheClaims) {
  auto story = culprit_story();
  story.events = {event_of(Kind::explained, IncidentState::explained)};
  expect_comment(story, "comment_explained");
}

TEST(LifeStory, ForThePullRequest_HasTheProof) {
  auto const story = culprit_story();
  auto const& finding = story.bisections.front().findings.front();
  expect_text(draft_pull_request_comment(story, finding, project_url).body, "comment_pull_request");
}

TEST(LifeStory, OfAFix_ComparesBeforeDuringAndNow) {
  expect_comment(fixed_story(), "comment_fixed");
}

TEST(LifeStory, OfAPartialFix_SaysWhatIsNotBack) {
  expect_comment(partly_fixed_story(), "comment_partly_fixed");
}

TEST(LifeStory, OfAReturn) {
  auto story = with_event(Kind::returned, IncidentState::returned, "");
  story.incident.later_series = {{NightlyId{9}, series_of("resnet18", Metric::latency), true},
                                 {NightlyId{8}, series_of("resnet18", Metric::cmem), true},
                                 {NightlyId{9}, series_of("alexnet", Metric::latency), false}};
  expect_comment(story, "comment_returned");
}

TEST(LifeStory, OfSeriesThatJoined) {
  auto story = with_event(Kind::series_joined, IncidentState::explained, "");
  story.incident.later_series = {{NightlyId{9}, series_of("resnet18", Metric::latency), false}};
  expect_comment(story, "comment_series_joined");
}

TEST(LifeStory, OfRulings_NamesWhoAndWhy) {
  expect_comment(ruled_story(RulingKind::accept), "comment_accepted");
  expect_comment(ruled_story(RulingKind::false_alarm), "comment_false_alarm");
}

TEST(LifeStory, OfAStaleIncident) {
  expect_comment(with_event(Kind::stale, IncidentState::stale, "test_eval[dlrm-cpu-eager]_leak"),
                 "comment_stale");
}

TEST(LifeStory, ShowsTheStateInTheFirstLine) {
  auto story = fixed_story();
  story.incident.state = IncidentState::fix_expected;
  EXPECT_EQ(first_line_of(story),
            "**Fix expected** by [`dddddddddddd`](" + std::string{project_url} + "/commit/" +
                sha_of('d').hex +
                "): `reverts cccccccccccc`. A nightly that contains the fix is compared with the "
                "last good build.");
  EXPECT_EQ(first_line_of(fixed_story()),
            "**Fixed** in nightly `2026-11-28` by [`dddddddddddd`](" + std::string{project_url} +
                "/commit/" + sha_of('d').hex + "). All series are back at the level before.");
  EXPECT_EQ(
      first_line_of(partly_fixed_story()),
      "**Partly fixed** in nightly `2026-11-28`. 1 of 3 series are back at the level before.");
  EXPECT_EQ(first_line_of(ruled_story(RulingKind::accept)),
            "**Accepted** by `ada`: `pays for itself @everyone`. The new level is the reference "
            "for later nightlies.");
  EXPECT_EQ(first_line_of(ruled_story(RulingKind::false_alarm)),
            "**False alarm**, reported by `ada`: `pays for itself @everyone`.");
  story.incident.state = IncidentState::explained;
  EXPECT_EQ(first_line_of(story), "") << "the claim says it";
}

TEST(LifeStory, OfAFixWithoutACommit_NamesTheRange) {
  auto story = fixed_story();
  story.events.back().commit.hex.clear();
  story.events.back().detail = "between aaaaaaaaaaaa and bbbbbbbbbbbb";
  EXPECT_EQ(
      first_line_of(story),
      "**Fixed** in nightly `2026-11-28`: `between aaaaaaaaaaaa and bbbbbbbbbbbb`. All series "
      "are back at the level before.");
}

TEST(LifeStory, NamesNoNightlyThatItDoesNotKnow) {
  auto story = fixed_story();
  story.nightlies.clear();
  EXPECT_THAT(first_line_of(story), HasSubstr("**Fixed** in a later nightly"));
}

TEST(LifeStory, HidesDirectoriesAndMarkupOfTheDetail) {
  auto const story =
      with_event(Kind::stale, IncidentState::stale, "see /srv/logs/a.log | @everyone");
  auto const text = event_story(story, story.events.front(), project_url);
  EXPECT_THAT(text,
              AllOf(HasSubstr("<code>see a&#46;log &#124; &#64;everyone</code>"),
                    Not(HasSubstr("@everyone"))));
}

TEST(LifeStory, HasAHistoryOfSeveralEvents) {
  EXPECT_THAT(history_story(fixed_story(), project_url),
              AllOf(testing::StartsWith("### History\n\n- 2025-11-22: **Opened** in nightly"),
                    HasSubstr("- 2025-11-22: **Explained**\n"),
                    HasSubstr("- 2025-11-22: **Fixed** in nightly `2026-11-28`")));
  auto story = fixed_story();
  story.events.resize(1);
  EXPECT_EQ(history_story(story, project_url), "");
}

TEST(LifeStory, HasAHeadline) {
  auto const story = fixed_story();
  EXPECT_EQ(headline_of(story, story.events.at(2)), "fix expected");
  EXPECT_EQ(headline_of(story, story.events.at(3)), "fixed in nightly 2026-11-28");
  auto const ruled = ruled_story(RulingKind::false_alarm);
  EXPECT_EQ(headline_of(ruled, ruled.events.front()), "false alarm");
}

TEST(ReportKey, StaysWhenSeriesJoin) {
  auto story = culprit_story();
  auto const key = key_of(story);
  auto joined = story.incident.changes.front();
  joined.series.benchmark.model = "alexnet";
  story.incident.changes.push_back(joined);
  story.incident.later_series = {{NightlyId{9}, joined.series, false}};
  EXPECT_EQ(key_of(story), key);
  story.incident.report_key = "stored";
  EXPECT_EQ(key_of(story), "stored");
}

}  // namespace
}  // namespace torchwatch::github
