#include "storage/jobs.h"

#include <stdexcept>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

using JobsTest = TablesTest;

TEST_F(JobsTest, AnOutcomeIsReadAsItWasRecorded) {
  auto const written = outcome_of({"nightly/1"}, 3, 10.0 / 3.0);
  store.jobs().record({written});

  auto const read = store.jobs().find(written.key).value();

  EXPECT_EQ(read.key, written.key);
  EXPECT_EQ(read.values.size(), 2U);
  EXPECT_EQ(read.values.at(Metric::latency).value, 10.0 / 3.0);
  EXPECT_EQ(read.values.at(Metric::latency).samples, written.values.at(Metric::latency).samples);
  EXPECT_EQ(read.profile, written.profile);
  EXPECT_EQ(read.values.at(Metric::latency).outliers, std::vector<int>{2});
  EXPECT_EQ(read.version, written.version);
  EXPECT_EQ(read.fingerprint, written.fingerprint);
  EXPECT_EQ(read.seconds, written.seconds);
  EXPECT_EQ(read.accounts, written.accounts);
  EXPECT_EQ(read.finished_at, written.finished_at);
  EXPECT_EQ(read.seed, 4294967295U);
  EXPECT_EQ(read.place, 1);
  EXPECT_TRUE(read.ok());
}

TEST_F(JobsTest, AFailedOutcomeKeepsItsReasonAndHasNoHistory) {
  auto written = outcome_of({"nightly/1"}, 0, 1);
  written.values.clear();
  written.error_code = JobError::crashed;
  written.error = "signal 11\nlast line: caf\xe9";
  store.jobs().record({written});

  auto const read = store.jobs().find(written.key).value();

  EXPECT_FALSE(read.ok());
  EXPECT_EQ(read.error, written.error);
  EXPECT_THAT(store.jobs().history(latency_of("dlrm")), IsEmpty());
}

/// A column with JSON that is nested 100,000 levels deep. Parameter: "TABLE SET COLUMN".
class DeepJsonTest : public TablesTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(DeepJsonTest, IsAnError) {
  auto const written = outcome_of({"nightly/1"}, 0, 10);
  store.jobs().record({written});
  auto const deep = std::string(100'000, '[') + std::string(100'000, ']');
  SQLite::Database{folder.database().string(), SQLite::OPEN_READWRITE}.exec("UPDATE " + GetParam() +
                                                                            " = '" + deep + "'");

  EXPECT_THAT([&] { store.jobs().find(written.key); },
              ThrowsMessage<std::runtime_error>(HasSubstr("JSON nested deeper than 32 levels")));
}

INSTANTIATE_TEST_SUITE_P(Jobs,
                         DeepJsonTest,
                         ::testing::Values("fingerprint SET json",
                                           "job SET accounts",
                                           "job SET profile",
                                           "result SET samples",
                                           "result SET outliers"));

TEST_F(JobsTest, BracketsInAStringAreNotDeep) {
  auto written = outcome_of({"nightly/1"}, 0, 10);
  written.fingerprint = R"({"host":"\"\\)" + std::string(100, '[') + R"("})";
  store.jobs().record({written});
  EXPECT_EQ(store.jobs().find(written.key).value().fingerprint, written.fingerprint);
}

TEST_F(JobsTest, ARoundWithAnotherBuildReplacesTheOldOne) {
  auto const nightly = outcome_of({"nightly/1"}, 1, 10);
  auto baseline = nightly;
  baseline.key.commit = sha_of('b');
  auto other_round = nightly;
  other_round.key.round = 0;
  store.jobs().record({other_round});
  store.jobs().record({baseline, nightly});

  auto now = outcome_of({"nightly/1"}, 1, 20);
  auto other_baseline = now;
  other_baseline.key.commit = sha_of('c');
  store.jobs().record({other_baseline, now});

  EXPECT_EQ(store.jobs().find(baseline.key), std::nullopt);
  EXPECT_TRUE(store.jobs().find(other_baseline.key));
  EXPECT_EQ(store.jobs().find(now.key).value().values.at(Metric::latency).value, 20);
  EXPECT_TRUE(store.jobs().find(other_round.key));
}

TEST_F(JobsTest, AHostIsRemovedAfterItsLastJob) {
  auto first = outcome_of({"nightly/1"}, 0, 10);
  first.fingerprint = R"({"host":"one"})";
  auto second = outcome_of({"nightly/2"}, 0, 10);
  second.fingerprint = R"({"host":"two"})";
  store.jobs().record({first});
  store.jobs().record({second});
  EXPECT_EQ(store.jobs().remove_unused_hosts(9), 0);
  store.jobs().remove({"nightly/1"}, 9);
  EXPECT_EQ(store.jobs().remove_unused_hosts(9), 1);
  EXPECT_EQ(store.jobs().find(second.key).value().fingerprint, second.fingerprint);
  EXPECT_EQ(store.jobs().remove_unused_hosts(9), 0);
}

TEST_F(JobsTest, AHostOfANightStaysWithoutItsJobs) {
  announce("2026-01-01", 'a');
  auto measured = outcome_of({"nightly/1"}, 0, 10);
  measured.key.commit = sha_of('a');
  store.jobs().record({measured});
  store.histories().keep(NightlyId{1});
  auto const nights = store.histories().of(latency_of("dlrm"));
  ASSERT_EQ(nights.size(), 1U);

  store.jobs().remove({"nightly/1"}, 9);

  EXPECT_EQ(store.jobs().remove_unused_hosts(9), 0);
  EXPECT_EQ(store.histories().fingerprint(nights[0].host), measured.fingerprint);
}

TEST_F(JobsTest, AKnownKeyKeepsItsFirstOutcome) {
  store.jobs().record({outcome_of({"nightly/1"}, 0, 10)});
  auto second = outcome_of({"nightly/1"}, 0, 99);
  second.values[Metric::leak] = MetricValue{1, {1}};
  second.fingerprint = "{}";

  store.jobs().record({second});

  auto const read = store.jobs().find(second.key).value();
  EXPECT_EQ(read.values.at(Metric::latency).value, 10);
  EXPECT_FALSE(read.values.contains(Metric::leak));
  EXPECT_NE(read.fingerprint, "{}");
  EXPECT_EQ(store.jobs().of({"nightly/1"}).size(), 1U);
}

TEST_F(JobsTest, EachPartOfAKeyCounts) {
  auto const first = outcome_of({"nightly/1"}, 0, 1);
  std::vector<JobOutcome> others(4, first);
  others[0].key.campaign = {"nightly/2"};
  others[1].key.fleet = "gpu";
  others[2].key.benchmark.test = torchwatch::Test::eval;
  others[3].key.round = 1;
  store.jobs().record({first});
  for (auto const& other : others) {
    EXPECT_EQ(store.jobs().find(other.key), std::nullopt);
    store.jobs().record({other});
    EXPECT_TRUE(store.jobs().find(other.key));
  }
  EXPECT_TRUE(store.jobs().find(first.key));
}

TEST_F(JobsTest, ACampaignIsReadInOrder) {
  for (int const round : {2, 0, 1})
    store.jobs().record({outcome_of({"nightly/1"}, round, round)});
  store.jobs().record({outcome_of({"nightly/10"}, 0, 7)});

  std::vector<int> rounds;
  for (auto const& outcome : store.jobs().of({"nightly/1"}))
    rounds.push_back(outcome.key.round);
  EXPECT_THAT(rounds, ElementsAre(0, 1, 2));
}

TEST_F(JobsTest, TheValuesOfACampaignAreThoseOfItsFirstRounds) {
  auto failed = outcome_of({"nightly/1"}, 1, 8);
  failed.key.commit = sha_of('b');
  failed.values.clear();
  failed.error_code = JobError::crashed;
  store.jobs().record({outcome_of({"nightly/1"}, 2, 9),
                       outcome_of({"nightly/1"}, 1, 11),
                       outcome_of({"nightly/1"}, 0, 10),
                       outcome_of({"nightly/2"}, 0, 12),
                       failed});

  auto const read = store.jobs().values_of({"nightly/1"}, 2);

  ASSERT_EQ(read.size(), 2U);
  auto const written = outcome_of({"nightly/1"}, 1, 11);
  EXPECT_EQ(read[0].key.round, 0);
  EXPECT_EQ(read[1].key, written.key);
  EXPECT_EQ(read[1].values.size(), 2U);
  EXPECT_EQ(read[1].values.at(Metric::latency).value, 11);
  EXPECT_EQ(read[1].values.at(Metric::latency).samples, written.values.at(Metric::latency).samples);
  EXPECT_EQ(read[1].values.at(Metric::cmem).value, 4096);
}

TEST_F(JobsTest, AHistoryIsOldestFirstAndHasDates) {
  announce("2026-01-01", 'a');
  store.jobs().record({outcome_of({"nightly/1"}, 5, 11)});
  auto between = outcome_of({"bisect/1/bbb"}, 1, 10);
  between.key.commit = sha_of('b');
  store.jobs().record({between});

  auto const points = store.jobs().history(latency_of("dlrm"));

  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].value.value, 10);
  EXPECT_EQ(points[0].date, "");
  EXPECT_EQ(points[0].campaign.name, "bisect/1/bbb");
  EXPECT_EQ(points[1].commit, sha_of('a'));
  EXPECT_EQ(points[1].date, "2026-01-01");
  EXPECT_EQ(points[1].value.samples.size(), 3U);
  EXPECT_EQ(points[1].measured_at, early + std::chrono::seconds{5});
  EXPECT_EQ(points[1].seed, 4294967295U);
  EXPECT_EQ(points[1].place, 1);
  EXPECT_THAT(store.jobs().history(latency_of("other")), IsEmpty());
}

TEST_F(JobsTest, SharesOfAGpuAreThoseOfProfiles) {
  auto profiled = outcome_of({"profile/1"}, 0, 10);
  profiled.accounts = {
      {"gpu_active_share", 0.5}, {"gpu_data_movement_share", 0.1}, {"gpu_idle_share", 0.4}};
  auto again = profiled;
  again.key.campaign.name = "profile/2";
  again.accounts["gpu_active_share"] = 0.7;
  auto other = profiled;
  other.key.commit = sha_of('b');
  auto measured = profiled;
  measured.key.campaign.name = "nightly/1";
  auto on_cpu = outcome_of({"profile/3"}, 0, 10);
  on_cpu.key.benchmark.model = "maml";
  store.jobs().record({profiled, again, other, measured, on_cpu});

  auto const shares = store.jobs().gpu_shares(sha_of('a'));

  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].which.benchmark, latency_of("dlrm").benchmark);
  EXPECT_NEAR(shares[0].active, 0.6, 1e-9);
  EXPECT_EQ(shares[0].data_movement, 0.1);
  EXPECT_EQ(shares[0].idle, 0.4);
}

TEST_F(JobsTest, ProfiledNightliesAreListed) {
  auto profiled = outcome_of(Campaign::suite_profile(NightlyId{9}), 0, 10);
  profiled.accounts = {
      {"gpu_active_share", 0.5}, {"gpu_data_movement_share", 0.1}, {"gpu_idle_share", 0.4}};
  auto newer = profiled;
  newer.key.campaign = Campaign::suite_profile(NightlyId{10});
  newer.accounts["gpu_active_share"] = 0.7;
  store.jobs().record({profiled, newer, outcome_of({"profile/11"}, 0, 10)});

  EXPECT_THAT(store.jobs().profiled_nightlies(), ElementsAre(NightlyId{10}, NightlyId{9}));
  auto const shares = store.jobs().gpu_shares(Campaign::suite_profile(NightlyId{9}));
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].active, 0.5);
  EXPECT_TRUE(store.jobs().gpu_shares(sha_of('a')).empty()) << "of incidents alone";
}

}  // namespace
}  // namespace torchwatch::tests
