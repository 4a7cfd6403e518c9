#include "github/transcript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/github/stories.h"

namespace torchwatch::github {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::size_t plenty = 1'000'000;

std::string told(Bisection const& bisection, std::size_t max_bytes = plenty) {
  return transcript(bisection, "https://github.com/pytorch/pytorch", max_bytes);
}

Bisection search_of(IncidentStory const& story) {
  return story.bisections.front();
}

TEST(Transcript, CountsWhatTheBisectionTook) {
  EXPECT_THAT(told(search_of(culprit_story())),
              HasSubstr(": 3 steps; 4 commits measured, 1 skipped."));
}

TEST(Transcript, TellsOfTheSeriesThatIsStillAskedAbout) {
  auto search = search_of(culprit_story());
  search.steps.resize(1);
  EXPECT_THAT(told(search),
              HasSubstr("_latency` on `local`: no change 4.0%, "
                        "`eeeeeeeeeeee..bbbbbbbbbbbb` 93.0% |"));
  search.steps.front().beliefs.front().probability = 0.995;
  search.steps.front().beliefs.back() = belief_of(Metric::cmem, 0.3, 'e', 'b', 0.7);
  EXPECT_THAT(told(search), HasSubstr("_cmem` on `local`: no change 30.0%"));
}

TEST(Transcript, TellsTheFirstSeriesWhenNoneIsAskedAbout) {
  auto search = search_of(culprit_story());
  search.steps.erase(search.steps.begin(), search.steps.end() - 1);
  EXPECT_THAT(told(search), HasSubstr("no change less than 0.1%, `cccccccccccc` 99.5% |"));
}

TEST(Transcript, ShowsTheLatencyOrElseTheFirstMetric) {
  auto search = search_of(not_reproduced_story());
  EXPECT_THAT(told(search), HasSubstr("| latency 41.3 ms, 41.2 ms |"));
  search.steps.front().readings.pop_back();
  EXPECT_THAT(told(search), HasSubstr("| cmem 812.29 MiB, 812.29 MiB |"));
}

TEST(Transcript, SaysWhatCouldNotBeBuiltAndWhatWasNotDone) {
  auto search = search_of(range_story());
  search.steps.push_back(planned_step(3, "c"));
  auto const text = told(search);
  EXPECT_THAT(text, HasSubstr(") could not be built or measured: `recipe: exit status 125` | - |"));
  EXPECT_THAT(text, HasSubstr("| not run | - |"));
}

TEST(Transcript, KeepsTheLastSteps) {
  auto search = search_of(not_reproduced_story());
  search.steps.resize(100, search.steps.front());
  for (int turn = 1; auto& step : search.steps)
    step.turn = turn++;
  auto const text = told(search);
  EXPECT_THAT(text, HasSubstr("Not shown: the first 40 of 100."));
  EXPECT_THAT(text, HasSubstr("\n| 41 | "));
  EXPECT_THAT(text, HasSubstr("\n| 100 | "));
  EXPECT_THAT(text, Not(HasSubstr("\n| 40 | ")));
}

TEST(Transcript, FitsOrIsLeftOut) {
  auto const search = search_of(culprit_story());
  auto const whole = told(search);
  auto const shorter = told(search, whole.size() - 1);
  EXPECT_LT(shorter.size(), whole.size());
  EXPECT_THAT(shorter, HasSubstr("Not shown: the first 1 of 3."));
  EXPECT_THAT(told(search, 300), IsEmpty());
}

TEST(Transcript, IsEmptyWithoutSteps) {
  auto search = search_of(culprit_story());
  search.steps.clear();
  EXPECT_THAT(told(search), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::github
