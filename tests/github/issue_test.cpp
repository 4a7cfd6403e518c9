#include "github/issue.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/github/stories.h"

namespace torchwatch::github {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ReportContext const context{{"torchbench-perf-report"}};

/// Compares with tests/data/issues/NAME.md. TORCHWATCH_REGENERATE=1 rewrites the file, and the test
/// fails once more so that nobody forgets to look at the difference.
void expect_golden(IncidentStory const& story, std::string const& name) {
  auto const draft = draft_issue(story, context);
  auto const told = draft.title + "\n\n" + draft.body;
  auto const path = std::string{TORCHWATCH_TEST_DATA "/issues/"} + name + ".md";
  if (std::getenv("TORCHWATCH_REGENERATE") != nullptr) {
    std::ofstream{path, std::ios::binary} << told;
    FAIL() << path << " was rewritten: read the difference";
  }
  std::ifstream file{path, std::ios::binary};
  std::string const golden{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(told, golden) << "TORCHWATCH_REGENERATE=1 rewrites " << path;
}

TEST(Issue, NamesTheCulpritWithItsProof) {
  expect_golden(culprit_story(), "culprit");
}

TEST(Issue, ListsTheRangeWithReasons) {
  expect_golden(range_story(), "range");
}

TEST(Issue, SaysWhenItWasNotReproduced) {
  expect_golden(not_reproduced_story(), "not_reproduced");
}

TEST(Issue, DoesWithoutASearch) {
  expect_golden(plain_story(), "not_searched");
}

TEST(Issue, CannotBeBrokenByForeignText) {
  expect_golden(hostile_story(), "hostile");
}

TEST(Issue, SaysWhyASearchFailedOrGoesOn) {
  auto story = culprit_story();
  story.bisections.front().state = BisectionState::failed;
  story.bisections.front().failure = "repository is gone";
  EXPECT_THAT(draft_issue(story, context).body,
              HasSubstr("**The search failed:** `repository is gone`"));
  story.bisections.front().state = BisectionState::running;
  story.bisections.front().outcome.reset();
  EXPECT_THAT(draft_issue(story, context).body, HasSubstr("**The search has not ended yet.**"));
}

TEST(Issue, TellsSeveralCulpritsAndWhatIsLeft) {
  auto story = culprit_story();
  auto second = story.bisections.front();
  second.suspects = {commit_of('f', "Keep the tape", "John Roe <j@example.org>", 86007)};
  second.explained = {series_of("resnet18", Metric::cmem)};
  story.bisections.push_back(second);
  auto const body = draft_issue(story, context).body;
  auto const link = [](char digit) {
    return "[`" + std::string(12, digit) + "`](https://github.com/pytorch/pytorch/commit/" +
           std::string(40, digit) + ")";
  };
  EXPECT_THAT(body, HasSubstr("| " + link('c') + ", " + link('f') + " |"));
  EXPECT_THAT(body, HasSubstr("| 4 | not explained |"));
}

TEST(Issue, KeyIsTheIncidentAndNothingElse) {
  auto story = culprit_story();
  auto const key = key_of(story);
  EXPECT_THAT(key, testing::MatchesRegex("[0-9a-f]{32}"));
  std::reverse(story.incident.changes.begin(), story.incident.changes.end());
  story.incident.id.value = 7;
  story.bisections.clear();
  story.fingerprint.clear();
  EXPECT_EQ(key_of(story), key);
  story.incident.changes.front().series.fleet = "other";
  EXPECT_NE(key_of(story), key);
  story = culprit_story();
  story.nightly.commit = sha_of('9');
  EXPECT_NE(key_of(story), key);
}

TEST(Issue, CarriesKeyAndLabels) {
  auto const draft = draft_issue(culprit_story(), context);
  EXPECT_THAT(draft.body, StartsWith("<!-- torchwatch-key: " + draft.key + " -->"));
  EXPECT_EQ(draft.labels, context.labels);
}

TEST(Issue, ShowsNobodysAddress) {
  EXPECT_THAT(draft_issue(culprit_story(), context).body, Not(HasSubstr("example.org")));
}

TEST(Issue, HoldsGithubsLimitsAndSaysSo) {
  auto story = range_story();
  auto const wide = std::string(120, 'x') + "\xE2\x82\xAC";
  for (int i = 0; i < 400; ++i) {
    story.incident.changes.push_back(story.incident.changes.front());
    story.incident.changes.back().series.benchmark.model = wide + std::to_string(i);
    story.incident.changes.back().comparison.ratio->ratio = 9;
    story.bisections.front().suspects.push_back(commit_of('c', wide, wide, i));
  }
  auto const draft = draft_issue(story, context);
  EXPECT_LE(draft.title.size(), max_title_bytes);
  EXPECT_LE(draft.body.size(), max_body_bytes);
  EXPECT_GT(draft.body.size(), max_body_bytes - 1000);
  EXPECT_THAT(draft.body, HasSubstr(marker_of(draft.key)));
  EXPECT_THAT(draft.body, HasSubstr("303 more are not shown."));
  EXPECT_THAT(draft.body, HasSubstr("torchwatch bisect --start"));
  EXPECT_THAT(draft.body, testing::EndsWith("GitHub takes at most 65536 characters.*\n"));
}

TEST(Issue, CutsOneEndlessLineBetweenCodePoints) {
  auto story = plain_story();
  std::string value;
  for (int i = 0; i < 30'000; ++i)
    value += "\xE2\x82\xAC";
  story.fingerprint = R"({"cpu":")" + value + "\"}";
  auto const body = draft_issue(story, context).body;
  EXPECT_LE(body.size(), max_body_bytes);
  EXPECT_THAT(body, HasSubstr("\xE2\x82\xAC\n\n*The report was cut here"));
}

}  // namespace
}  // namespace torchwatch::github
