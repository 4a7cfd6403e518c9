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

std::string transcript_of(Bisection const& bisection, std::size_t max_bytes = plenty) {
  return transcript(bisection, "https://github.com/pytorch/pytorch", max_bytes);
}

TEST(Transcript, CountsWhatTheBisectionTook) {
  EXPECT_THAT(transcript_of(bisection_of(culprit_story())),
              HasSubstr(": 3 steps; 4 commits measured, 1 skipped."));
}

TEST(Transcript, CountsACommitOnceThatFailedAtFirst) {
  auto bisection = bisection_of(culprit_story());
  auto& steps = bisection.steps;
  auto again = *std::ranges::find_if(
      steps, [](BisectionStep const& step) { return step.skipped.has_value(); });
  again.skipped.reset();
  again.readings = {{Metric::latency, std::vector<double>(again.commits.size(), 10)}};
  steps.push_back(again);
  EXPECT_THAT(transcript_of(bisection), HasSubstr(", 0 skipped."));
}

TEST(Transcript, HasNoPathOfTheHost) {
  auto bisection = bisection_of(culprit_story());
  bisection.steps[1].note = "recipe: exit status 125, see /srv/state/logs/build-e.log";
  auto const text = transcript_of(bisection);
  EXPECT_THAT(text, HasSubstr("`recipe: exit status 125, see build-e.log`"));
  EXPECT_THAT(text, Not(HasSubstr("/srv")));
}

TEST(Transcript, TellsOfTheSeriesThatIsStillAskedAbout) {
  auto bisection = bisection_of(culprit_story());
  bisection.steps.resize(1);
  EXPECT_THAT(transcript_of(bisection),
              HasSubstr("_latency` on `local`: no change 4.0%, "
                        "`eeeeeeeeeeee..bbbbbbbbbbbb` 93.0% |"));
  bisection.steps.front().beliefs.front().probability = 0.995;
  bisection.steps.front().beliefs.back() = belief_of(Metric::cmem, 0.3, 'e', 'b', 0.7);
  EXPECT_THAT(transcript_of(bisection), HasSubstr("_cmem` on `local`: no change 30.0%"));
}

TEST(Transcript, TellsTheFirstSeriesWhenNoneIsAskedAbout) {
  auto bisection = bisection_of(culprit_story());
  bisection.steps.erase(bisection.steps.begin(), bisection.steps.end() - 1);
  EXPECT_THAT(transcript_of(bisection),
              HasSubstr("no change less than 0.1%, `cccccccccccc` 99.5% |"));
}

TEST(Transcript, ShowsTheLatencyOrElseTheFirstMetric) {
  auto bisection = bisection_of(not_reproduced_story());
  EXPECT_THAT(transcript_of(bisection), HasSubstr("| latency 41.3 ms, 41.2 ms |"));
  bisection.steps.front().readings.pop_back();
  EXPECT_THAT(transcript_of(bisection), HasSubstr("| cmem 812.29 MiB, 812.29 MiB |"));
}

TEST(Transcript, SaysWhatCouldNotBeBuiltAndWhatWasNotDone) {
  auto bisection = bisection_of(range_story());
  bisection.steps.push_back(planned_step(3, "c"));
  auto const text = transcript_of(bisection);
  EXPECT_THAT(text, HasSubstr(") could not be built or measured: `recipe: exit status 125` | - |"));
  EXPECT_THAT(text, HasSubstr("| not run | - |"));
}

TEST(Transcript, KeepsTheLastSteps) {
  auto bisection = bisection_of(not_reproduced_story());
  bisection.steps.resize(100, bisection.steps.front());
  for (int wave = 1; auto& step : bisection.steps)
    step.wave = wave++;
  auto const text = transcript_of(bisection);
  EXPECT_THAT(text, HasSubstr("Not shown: the first 40 of 100."));
  EXPECT_THAT(text, HasSubstr("\n| 41 | "));
  EXPECT_THAT(text, HasSubstr("\n| 100 | "));
  EXPECT_THAT(text, Not(HasSubstr("\n| 40 | ")));
}

TEST(Transcript, FitsOrIsLeftOut) {
  auto const bisection = bisection_of(culprit_story());
  auto const whole = transcript_of(bisection);
  auto const shorter = transcript_of(bisection, whole.size() - 1);
  EXPECT_LT(shorter.size(), whole.size());
  EXPECT_THAT(shorter, HasSubstr("Not shown: the first 1 of 3."));
  EXPECT_THAT(transcript_of(bisection, 300), IsEmpty());
}

TEST(Transcript, IsEmptyWithoutSteps) {
  auto bisection = bisection_of(culprit_story());
  bisection.steps.clear();
  EXPECT_THAT(transcript_of(bisection), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::github
