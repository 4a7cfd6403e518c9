#include "storage/incidents.h"

#include <chrono>
#include <optional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

class IncidentsTest : public TablesTest {
 protected:
  /// `culprit`: the digit of the commit that the event names; none without it.
  void store_event(IncidentId incident,
                   IncidentEventKind kind,
                   IncidentState state,
                   int hours,
                   std::optional<char> culprit = {}) {
    IncidentEvent event;
    event.incident = incident;
    event.kind = kind;
    event.state = state;
    event.at = early + std::chrono::hours{hours};
    if (culprit) event.commit = sha_of(*culprit);
    store.incident_events().add(event, {});
  }
};

TEST_F(IncidentsTest, AVerdictIsGivenOnce) {
  auto const nightly = announce("2026-01-01", 'a');
  Comparison other;
  other.verdict = Verdict::unchanged;
  store.incidents().record(nightly, SeriesChange{latency_of("dlrm"), slower()});
  store.incidents().record(nightly, SeriesChange{latency_of("dlrm"), other});
  store.incidents().record(nightly, SeriesChange{latency_of("zoo"), other});

  auto const verdicts = store.incidents().verdicts(nightly);

  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[0].series, latency_of("dlrm"));
  expect_same(verdicts[0].comparison, slower());
  expect_same(verdicts[1].comparison, other);
}

TEST_F(IncidentsTest, AnIncidentIsOpenedOnceAndHoldsTheRegressions) {
  auto const baseline = announce("2026-01-01", 'a');
  auto const nightly = announce("2026-01-02", 'b');
  Comparison better;
  better.verdict = Verdict::improvement;
  store.incidents().record(nightly, SeriesChange{latency_of("better"), better});
  store.incidents().record(nightly, SeriesChange{latency_of("dlrm"), slower()});

  auto const opened = store.incidents().open(baseline, nightly, early);
  auto const again = store.incidents().open(baseline, nightly, early + std::chrono::hours{1});

  EXPECT_EQ(again.id, opened.id);
  EXPECT_EQ(again.opened_at, early);
  EXPECT_EQ(opened.baseline, baseline);
  EXPECT_EQ(opened.nightly, nightly);
  EXPECT_EQ(opened.report, "");
  ASSERT_EQ(opened.changes.size(), 1U);
  EXPECT_EQ(opened.changes.front().series, latency_of("dlrm"));
  EXPECT_EQ(store.incidents().of_nightly(baseline), std::nullopt);
  EXPECT_EQ(store.incidents().find(IncidentId{99}), std::nullopt);
}

TEST_F(IncidentsTest, AReportHasAKeyBeforeItIsPublished) {
  auto const incident =
      store.incidents().open(announce("2026-01-01", 'a'), announce("2026-01-02", 'b'), early);
  store.incidents().intend_report(incident.id, "key");
  EXPECT_EQ(store.incidents().find(incident.id)->report, "");
  EXPECT_EQ(store.incidents().of_report("key")->id, incident.id);
  EXPECT_EQ(store.incidents().of_report("no key"), std::nullopt);

  store.incidents().reported(incident.id, "https://github.com/o/r/issues/7");

  EXPECT_EQ(store.incidents().find(incident.id)->report, "https://github.com/o/r/issues/7");
  EXPECT_EQ(store.incidents().all().size(), 1U);
}

TEST_F(IncidentsTest, AnEditionJoinsOrCorrectsOne) {
  auto const incident =
      store.incidents().open(announce("2026-01-01", 'a'), announce("2026-01-02", 'b'), early).id;
  auto const edition = announce("2026-01-02", 'c');
  store.incidents().correct(incident, edition, "so it is");
  EXPECT_EQ(store.incidents().of_nightly(edition)->id, incident);
  EXPECT_EQ(store.incidents().find(incident)->correction, "so it is");
  store.incidents().correct(incident, std::nullopt, "it is not");
  EXPECT_EQ(store.incidents().find(incident)->correction, "it is not");
  EXPECT_EQ(store.incidents().of_nightly(edition)->id, incident);
}

TEST_F(IncidentsTest, TheLastPauseThatGithubRequestedIsKept) {
  EXPECT_EQ(store.incidents().github_pause_end(), Timestamp{});
  store.incidents().pause_github(early + std::chrono::hours{1});
  store.incidents().pause_github(early);
  EXPECT_EQ(store.incidents().github_pause_end(), early);
}

TEST_F(IncidentsTest, SelfComparisonsAreCountedByMonth) {
  auto const january = announce("2026-01-31", 'a');
  auto const february = announce("2026-02-01", 'b');
  Comparison same;
  same.verdict = Verdict::unchanged;
  store.incidents().record_aa(january, {latency_of("dlrm"), same});
  store.incidents().record_aa(february, {latency_of("dlrm"), same});
  store.incidents().record_aa(february, {latency_of("zoo"), slower()});

  auto const months = store.incidents().aa_months();

  ASSERT_EQ(months.size(), 2U);
  EXPECT_EQ(months[0].month, "2026-01");
  EXPECT_EQ(months[0].tally.comparisons, 1);
  EXPECT_EQ(months[0].tally.alarms, 0);
  EXPECT_EQ(months[1].month, "2026-02");
  EXPECT_EQ(months[1].tally.comparisons, 2);
  EXPECT_EQ(months[1].tally.alarms, 1);
  auto const newest = store.incidents().newest_aa(1);
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0].nightly, february);
  EXPECT_EQ(newest[1].change.series, latency_of("zoo"));
  EXPECT_EQ(store.incidents().newest_aa(2).size(), 3U);
}

TEST_F(IncidentsTest, VerdictsHaveTheirCosts) {
  auto const first = announce("2026-01-01", 'a');
  auto const second = announce("2026-01-02", 'b');
  auto comparison = slower();
  store.incidents().record(first, {latency_of("dlrm"), comparison});
  store.incidents().record(second, {latency_of("dlrm"), comparison});
  store.incidents().record(second, {latency_of("zoo"), comparison});
  comparison.pairs = 9;
  store.incidents().record(second, {latency_of("maml"), comparison});

  auto const costs = store.incidents().costs(1);

  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0].verdict, Verdict::regression);
  EXPECT_EQ(costs[0].pairs, 6);
  EXPECT_EQ(costs[0].verdicts, 2);
  EXPECT_EQ(costs[1].pairs, 9);
  EXPECT_EQ(store.incidents().costs(2)[0].verdicts, 3);
}

TEST_F(IncidentsTest, UnfinishedOnesAreNewestFirst) {
  auto const baseline = announce("2026-01-01", 'a');
  for (char day = '2'; day <= '5'; ++day)
    store.incidents().open(baseline, announce(std::string{"2026-01-0"} + day, day), early);
  store_event(IncidentId{1}, IncidentEventKind::fixed, IncidentState::fixed, 1);
  store_event(IncidentId{2}, IncidentEventKind::stale, IncidentState::stale, 1);
  store_event(IncidentId{3}, IncidentEventKind::ruled, IncidentState::accepted, 1);

  auto const unfinished = store.incidents().unfinished();

  ASSERT_EQ(unfinished.size(), 2U);
  EXPECT_EQ(unfinished[0].id, IncidentId{4});
  EXPECT_EQ(unfinished[1].id, IncidentId{2});
}

TEST_F(IncidentsTest, TimesAreThoseOfTheFirstCulpritAndTheLastFix) {
  auto const baseline = announce("2026-01-01", 'a');
  auto const january = announce("2026-01-03", 'b');
  store.incidents().open(baseline, announce("2026-02-02", 'c'), early);
  store.incidents().open(baseline, january, early);
  store_event(IncidentId{1}, IncidentEventKind::explained, IncidentState::explained, 1);
  store_event(IncidentId{1}, IncidentEventKind::explained, IncidentState::explained, 2, 'c');
  store_event(IncidentId{1}, IncidentEventKind::explained, IncidentState::explained, 3, 'd');
  store_event(IncidentId{1}, IncidentEventKind::fixed, IncidentState::fixed, 4);
  store_event(IncidentId{1}, IncidentEventKind::returned, IncidentState::returned, 5);
  EXPECT_FALSE(store.incidents().times()[1].fixed_at) << "it is not fixed now";
  store_event(IncidentId{1}, IncidentEventKind::fixed, IncidentState::fixed, 6);

  auto const times = store.incidents().times();

  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].month, "2026-01") << "in the order of nightlies";
  EXPECT_FALSE(times[0].culprit_at);
  EXPECT_FALSE(times[0].fixed_at);
  EXPECT_EQ(times[1].month, "2026-02");
  EXPECT_EQ(times[1].opened_at, early);
  EXPECT_EQ(times[1].culprit_at, early + std::chrono::hours{2});
  EXPECT_EQ(times[1].fixed_at, early + std::chrono::hours{6});
}

TEST_F(IncidentsTest, AnIncidentOfAnUnknownNightlyIsRefused) {
  EXPECT_THROW(store.incidents().open(NightlyId{1}, NightlyId{2}, early), SQLite::Exception);
  EXPECT_THROW(store.incidents().record(NightlyId{1}, SeriesChange{latency_of("dlrm"), slower()}),
               SQLite::Exception);
}

}  // namespace
}  // namespace torchwatch::tests
