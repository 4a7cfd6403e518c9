#include "storage/histories.h"

#include <stdexcept>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HistoriesTest : public TablesTest {
 protected:
  /// A process of a nightly's own build, or of another commit.
  void measure(NightlyId nightly, int round, double ms, char digit = 'a') {
    auto outcome = outcome_of(Campaign::of(nightly), round, ms);
    outcome.key.commit = sha_of(digit);
    store.jobs().record({outcome});
  }

  NightOfSeries only_night() { return store.histories().of(latency_of("dlrm")).at(0); }
};

TEST_F(HistoriesTest, AFingerprintOfDeepJsonIsAnError) {
  auto const nightly = announce("2026-01-01", 'a');
  measure(nightly, 0, 10);
  store.histories().keep(nightly);
  SQLite::Database{folder.database().string(), SQLite::OPEN_READWRITE}.exec(
      "UPDATE fingerprint SET json = '" + std::string(100'000, '[') + "'");

  EXPECT_THAT([&] { store.histories().fingerprint(only_night().host); },
              ::testing::ThrowsMessage<std::runtime_error>(
                  ::testing::HasSubstr("column json JSON nested deeper than 32 levels")));
}

TEST_F(HistoriesTest, ANightIsTheMedianOfItsOwnProcesses) {
  auto const nightly = announce("2026-01-01", 'a');
  measure(nightly, 0, 10);
  measure(nightly, 1, 12);
  measure(nightly, 2, 100);
  measure(nightly, 3, 1, 'b');  // the baseline's
  store.histories().keep(nightly);

  auto const night = only_night();
  EXPECT_EQ(night.nightly, nightly);
  EXPECT_EQ(night.date, "2026-01-01");
  EXPECT_EQ(night.commit, sha_of('a'));
  EXPECT_EQ(night.level, 12);
  EXPECT_EQ(night.low, 10);
  EXPECT_EQ(night.high, 100);
  EXPECT_EQ(night.processes, 3);
  EXPECT_EQ(night.verdict, std::nullopt);
  EXPECT_EQ(store.histories().fingerprint(night.host), outcome_of({}, 0, 1).fingerprint);
  EXPECT_EQ(store.histories().fingerprint(99), "{}");
}

TEST_F(HistoriesTest, IsComputedAgainAfterMoreMeasurements) {
  auto const nightly = announce("2026-01-01", 'a');
  measure(nightly, 0, 10);
  store.histories().keep(nightly);
  measure(nightly, 1, 12);
  store.incidents().record(nightly, {latency_of("dlrm"), slower()});
  store.histories().keep(nightly);

  auto const nights = store.histories().of(latency_of("dlrm"));
  ASSERT_EQ(nights.size(), 1U);
  EXPECT_EQ(nights[0].level, 11) << "the mean of the two middle ones";
  EXPECT_EQ(nights[0].verdict, Verdict::regression);
}

TEST_F(HistoriesTest, StaysWhenItsProcessesAreDeleted) {
  auto const nightly = announce("2026-01-01", 'a');
  for (int round = 0; round < 5; ++round)
    measure(nightly, round, 10);
  store.histories().keep(nightly);

  EXPECT_THAT(store.jobs().campaigns(), ElementsAre(Campaign::of(nightly)));
  EXPECT_EQ(store.jobs().remove(Campaign::of(nightly), 3), 3);
  EXPECT_EQ(store.jobs().remove(Campaign::of(nightly), 3), 2);
  EXPECT_THAT(store.jobs().campaigns(), IsEmpty());
  EXPECT_EQ(only_night().processes, 5);
}

TEST_F(HistoriesTest, ListsNightsInTheirOrderAndSeriesByName) {
  auto const later = announce("2026-01-02", 'a');
  announce("2026-01-01", 'a');
  NightlyId const earlier{2};
  for (auto const nightly : {later, earlier}) {
    measure(nightly, 0, 10);
    store.histories().keep(nightly);
  }
  auto memory = latency_of("dlrm");
  memory.metric = Metric::cmem;
  EXPECT_THAT(store.histories().series(), ElementsAre(memory, latency_of("dlrm")));
  auto const nights = store.histories().of(memory);
  ASSERT_EQ(nights.size(), 2U);
  EXPECT_EQ(nights[0].nightly, earlier);
  EXPECT_EQ(nights[1].nightly, later);
  EXPECT_THAT(store.histories().of(latency_of("other")), IsEmpty());
}

TEST_F(HistoriesTest, HasTheLevelsOfANightly) {
  auto const first = announce("2026-01-01", 'a');
  auto const second = announce("2026-01-02", 'b');
  announce("2026-01-03", 'c');
  measure(first, 0, 10);
  measure(second, 0, 12, 'b');
  for (auto const nightly : {first, second})
    store.histories().keep(nightly);

  auto const levels = store.histories().levels_of(second);

  EXPECT_THAT(store.histories().nightlies(), ElementsAre(first, second));
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].series.metric, Metric::cmem);
  EXPECT_EQ(levels[1].series, latency_of("dlrm"));
  EXPECT_EQ(levels[1].level, 12);
  EXPECT_THAT(store.histories().levels_of(NightlyId{3}), IsEmpty());
}

TEST_F(HistoriesTest, HasTheLastNightsOfAllSeriesInTheirOrder) {
  announce("2026-01-03", 'a');
  announce("2026-01-01", 'a');
  announce("2026-01-02", 'a');
  announce("2026-01-04", 'a');  // not measured
  NightlyId const third{1};
  NightlyId const first{2};
  NightlyId const second{3};
  for (auto const nightly : {third, first, second}) {
    measure(nightly, 0, static_cast<double>(nightly.value));
    store.histories().keep(nightly);
  }

  auto const recent = store.histories().recent(2);

  ASSERT_EQ(recent.size(), 2U);
  EXPECT_EQ(recent[0].series.metric, Metric::cmem);
  EXPECT_EQ(recent[1].series, latency_of("dlrm"));
  ASSERT_EQ(recent[1].nights.size(), 2U);
  EXPECT_EQ(recent[1].nights[0].nightly, second);
  EXPECT_EQ(recent[1].nights[1].nightly, third);
  EXPECT_EQ(recent[1].nights[1].level, 1);
  EXPECT_EQ(recent[1].nights[1].commit, sha_of('a'));
}

/// The first nightly, and one that is compared with it.
class JudgedNightTest : public HistoriesTest {
 protected:
  JudgedNightTest() {
    measure(first, 0, 10);
    store.histories().keep(first);
    auto nightly = store.nightlies().find(second).value();
    nightly.baseline = first;
    store.nightlies().update(nightly);
  }

  bool is_judged(NightlyId nightly) {
    store.histories().keep(nightly);
    for (auto const& night : store.histories().of(latency_of("dlrm")))
      if (night.nightly == nightly) return night.is_judged;
    return false;
  }

  /// A round of the second nightly; 'a' is the first one's commit.
  void measure_round(int round, std::string const& commits) {
    std::vector<JobOutcome> outcomes;
    for (char const digit : commits) {
      outcomes.push_back(outcome_of(Campaign::of(second), round, 10));
      outcomes.back().key.commit = sha_of(digit);
    }
    store.jobs().record(outcomes);
  }

  NightlyId first = announce("2026-01-01", 'a');
  NightlyId second = announce("2026-01-02", 'b');
};

TEST_F(JudgedNightTest, IsTheFirst) {
  EXPECT_TRUE(is_judged(first));
}

TEST_F(JudgedNightTest, IsOneOfWhichAPairWasMeasured) {
  measure_round(0, "b");
  measure_round(1, "a");
  EXPECT_FALSE(is_judged(second)) << "no round has both";
  measure_round(2, "ab");
  EXPECT_TRUE(is_judged(second));
}

TEST_F(JudgedNightTest, IsNotAnInconclusiveOne) {
  measure_round(0, "ab");
  auto undecided = slower();
  undecided.verdict = Verdict::inconclusive;
  store.incidents().record(second, {latency_of("dlrm"), undecided});
  EXPECT_FALSE(is_judged(second));
}

TEST_F(JudgedNightTest, IsOneThatWasComparedWithTheBaselineOfTheSeries) {
  announce("2025-12-31", 'c');
  auto const id = store.nightlies().of_date("2025-12-31").value().id;
  store.baselines().choose(second, {{latency_of("dlrm"), id}});
  measure_round(0, "ab");
  EXPECT_FALSE(is_judged(second));
  measure_round(1, "cb");
  EXPECT_TRUE(is_judged(second));
}

TEST_F(JudgedNightTest, WithTheCommitOfItsBaselineIsJudgedLikeIt) {
  auto const third = announce("2026-01-03", 'a');
  auto nightly = store.nightlies().find(third).value();
  nightly.baseline = first;
  store.nightlies().update(nightly);
  measure(third, 0, 10);
  EXPECT_TRUE(is_judged(third));

  nightly.baseline = second;
  store.nightlies().update(nightly);
  EXPECT_FALSE(is_judged(third)) << "of another commit, and nothing of that was measured";
}

TEST_F(HistoriesTest, ANightlyWithoutValuesHasNoNight) {
  store.histories().keep(announce("2026-01-01", 'a'));
  EXPECT_THAT(store.histories().series(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::tests
