#include "storage/bisections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using ::testing::ElementsAre;

using BisectionsTest = TablesTest;

BisectionRequest request_of() {
  BisectionRequest request;
  request.start = sha_of('a');
  request.end = sha_of('d');
  request.series = {latency_of("zoo"), latency_of("dlrm")};
  request.threshold = 0.125;
  request.direction = Direction::both;
  return request;
}

TEST_F(BisectionsTest, ASearchIsReadAsItWasAsked) {
  auto const asked = store.bisections().ask(request_of(), std::nullopt, early);

  auto const read = store.bisections().find(asked.id).value();

  EXPECT_EQ(read.request.start, sha_of('a'));
  EXPECT_EQ(read.request.end, sha_of('d'));
  EXPECT_THAT(read.request.series, ElementsAre(latency_of("zoo"), latency_of("dlrm")));
  EXPECT_EQ(read.request.threshold, 0.125);
  EXPECT_EQ(read.request.direction, Direction::both);
  EXPECT_EQ(read.state, BisectionState::queued);
  EXPECT_EQ(read.incident, std::nullopt);
  EXPECT_EQ(read.outcome, std::nullopt);
  EXPECT_EQ(read.lead, std::nullopt);
  EXPECT_FALSE(read.proof);
  EXPECT_EQ(read.asked_at, early);
}

TEST_F(BisectionsTest, ASearchIsReadAsItEnded) {
  auto search = store.bisections().ask(request_of(), std::nullopt, early);
  store.bisections().add_step(search.id, {sha_of('b'), StepVerdict::skip, "exit status 125"});
  store.bisections().add_step(search.id, {sha_of('c'), StepVerdict::bad, "1.00 of the end"});
  search.state = BisectionState::done;
  search.outcome = BisectionOutcome::range;
  search.suspects = {Commit{sha_of('b'), "First", "Ada <a@b>", early, std::nullopt},
                     Commit{sha_of('c'), "Second (#2)", "Bob <b@c>", early, 2}};
  search.lead = latency_of("dlrm");
  search.explained = {latency_of("dlrm")};
  search.proof = slower();
  search.failure = "note";
  store.bisections().update(search);

  auto const read = store.bisections().find(search.id).value();

  EXPECT_EQ(read.state, BisectionState::done);
  EXPECT_EQ(read.outcome, BisectionOutcome::range);
  ASSERT_EQ(read.steps.size(), 2U);
  EXPECT_EQ(read.steps[0].verdict, StepVerdict::skip);
  EXPECT_EQ(read.steps[1].note, "1.00 of the end");
  ASSERT_EQ(read.suspects.size(), 2U);
  EXPECT_EQ(read.suspects[0].pull_request, std::nullopt);
  EXPECT_EQ(read.suspects[1].pull_request, 2);
  EXPECT_EQ(read.suspects[1].subject, "Second (#2)");
  EXPECT_EQ(read.suspects[1].author, "Bob <b@c>");
  EXPECT_EQ(read.suspects[1].time, early);
  EXPECT_EQ(read.lead, latency_of("dlrm"));
  EXPECT_THAT(read.explained, ElementsAre(latency_of("dlrm")));
  ASSERT_TRUE(read.proof);
  expect_same(*read.proof, slower());
  EXPECT_EQ(read.failure, "note");
}

TEST_F(BisectionsTest, AnUpdateReplacesTheSuspects) {
  auto search = store.bisections().ask(request_of(), std::nullopt, early);
  search.suspects.resize(3);
  store.bisections().update(search);
  search.suspects.resize(1);
  store.bisections().update(search);

  EXPECT_EQ(store.bisections().find(search.id)->suspects.size(), 1U);
}

TEST_F(BisectionsTest, SearchesOfPeopleWaitInLineApartFromThoseOfIncidents) {
  auto const incident =
      store.incidents().open(announce("2026-01-01", 'a'), announce("2026-01-02", 'b'), early);
  auto const own = store.bisections().ask(request_of(), incident.id, early);
  auto first = store.bisections().ask(request_of(), std::nullopt, early);
  auto const second = store.bisections().ask(request_of(), std::nullopt, early);

  EXPECT_EQ(store.bisections().next_asked()->id, first.id);
  first.state = BisectionState::running;
  store.bisections().update(first);
  EXPECT_EQ(store.bisections().next_asked()->id, first.id);
  first.state = BisectionState::failed;
  store.bisections().update(first);
  EXPECT_EQ(store.bisections().next_asked()->id, second.id);
  ASSERT_EQ(store.bisections().of_incident(incident.id).size(), 1U);
  EXPECT_EQ(store.bisections().of_incident(incident.id).front().id, own.id);
  EXPECT_EQ(store.bisections().all().front().id, second.id);
}

}  // namespace
}  // namespace torchwatch::tests
