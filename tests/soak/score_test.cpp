#include "tests/soak/score.h"

#include <gmock/gmock.h>

namespace torchwatch::soak {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A plan with one change above the threshold and one below it, and an outcome that keeps all
/// promises.
class ScoreTest : public testing::Test {
 protected:
  ScoreTest() {
    plan.days.resize(30);
    plan.planted = {{"alpha", Metric::latency, 1.2, 5, 9}, {"beta", Metric::latency, 1.06, 10, 14}};
    outcome.culprits = {culprit, CommitSha{std::string(40, 'b')}};
    FoundIncident incident;
    incident.model = "alpha";
    incident.metrics = {Metric::latency};
    incident.opened = 5;
    incident.explained = {6};
    incident.closed = {10};
    incident.culprit = culprit;
    incident.is_fixed = incident.is_issue_closed = true;
    outcome.incidents = {incident};
    outcome.published.issues = 1;
    outcome.samples = {
        {5, 1 << 20, 50 << 20, 20}, {15, 2 << 20, 50 << 20, 20}, {29, 3 << 20, 50 << 20, 20}};
  }

  std::vector<std::string> problems() const { return score_of(plan, outcome).problems; }

  CommitSha culprit{std::string(40, 'a')};
  Plan plan;
  Outcome outcome;
};

TEST_F(ScoreTest, IsWithoutProblemsWhenAllPromisesWereKept) {
  auto const score = score_of(plan, outcome);
  EXPECT_THAT(score.problems, IsEmpty());
  EXPECT_EQ(score.to_be_filed, 1U);
  EXPECT_EQ(score.found, 1U);
  EXPECT_EQ(score.explained, 1U);
  EXPECT_THAT(score.nights_to_detect, ElementsAre(0U));
  EXPECT_THAT(score.nights_to_explain, ElementsAre(1U));
  EXPECT_THAT(score.nights_to_close, ElementsAre(1U));
}

TEST_F(ScoreTest, NamesAChangeThatWasNotFiled) {
  outcome.incidents.clear();
  outcome.published.issues = 0;
  EXPECT_THAT(problems(), ElementsAre("latency of alpha by +20% on day 5: filed 0 times"));
}

TEST_F(ScoreTest, NamesAChangeThatWasFiledTwice) {
  outcome.incidents.push_back(outcome.incidents.front());
  outcome.published.issues = 2;
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("filed 2 times")));
}

TEST_F(ScoreTest, NamesAnIncidentOfAChangeBelowTheThreshold) {
  auto second = outcome.incidents.front();
  second.model = "beta";
  second.opened = 10;
  outcome.incidents.push_back(second);
  outcome.published.issues = 2;
  EXPECT_THAT(problems(),
              ElementsAre("the incident of day 10 (latency of beta): nothing was planted"));
}

TEST_F(ScoreTest, NamesAChangeThatWasFiledLate) {
  outcome.incidents.front().opened = 8;
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("filed on day 8, expected 7 at the latest")));
}

TEST_F(ScoreTest, NamesAnEndThatWasReportedEarlyLateTwiceOrNever) {
  auto& closed = outcome.incidents.front().closed;
  closed = {8};
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("closed on day 8, before its end")));
  closed = {12};
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("closed on day 12, expected 11 at the latest")));
  closed = {9, 10};
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("closed 2 times")));
  closed.clear();
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("closed 0 times")));
}

TEST_F(ScoreTest, NamesAnIssueThatIsOpenAtTheEnd) {
  outcome.incidents.front().is_issue_closed = false;
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("it or its issue is open at the end")));
}

TEST_F(ScoreTest, NamesAWrongCulprit) {
  outcome.incidents.front().culprit = CommitSha{std::string(40, 'c')};
  EXPECT_THAT(problems(), ElementsAre("the right culprit was named for 0 of 1 incidents"));
}

TEST_F(ScoreTest, NamesMessagesThatWereLostRepeatedOrLeft) {
  outcome.published = {2, 3, 4, 5};
  EXPECT_THAT(problems(),
              ElementsAre("2 issues of 1 incidents",
                          "3 messages were lost",
                          "4 messages arrived twice",
                          "5 messages were not sent"));
}

TEST_F(ScoreTest, NamesResourcesThatGrow) {
  outcome.samples.back().descriptors = 25;
  EXPECT_THAT(problems(), ElementsAre("the open files grew from 20 to 25"));
  outcome.samples.back() = {29, 30 << 20, 50 << 20, 20};
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the database grew by")));
}

TEST_F(ScoreTest, PrintsEachFigureOfTheTable) {
  outcome.processes = {10, 12, 40};
  auto const table = table_of(plan, outcome, score_of(plan, outcome));
  EXPECT_THAT(table, HasSubstr("precision           100.0% (1 of 1)\n"));
  EXPECT_THAT(table, HasSubstr("recall              100.0% (1 of 1)\n"));
  EXPECT_THAT(table, HasSubstr("nights to detect    median 0, at most 0\n"));
  EXPECT_THAT(table, HasSubstr("processes a night   median 12, at most 40\n"));
}

}  // namespace
}  // namespace torchwatch::soak
