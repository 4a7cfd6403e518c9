#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/nightly/trust_figures.h"
#include "tests/api/http_client.h"
#include "tests/api/live_api.h"

namespace torchwatch::tests {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TrustTest : public ::testing::Test {
 protected:
  json read(std::string const& target) {
    auto const answer = ask(api.port(), get(target));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  }

  LiveApi api;
};

/// Stores a nightly that `host` measured, for dcgan and maml. The fingerprint has the PyTorch of
/// the nightly.
void measure_night(storage::Store& store, int day, double ms, std::string const& host) {
  auto nightly = nightly_of("2026-02-0" + std::to_string(day), static_cast<char>('0' + day));
  store.nightlies().announce(nightly);
  auto const id = store.nightlies().newest()->id;
  for (auto const* const model : {"dcgan", "maml"}) {
    auto outcome = outcome_of(Campaign::of(id), 0, ms);
    outcome.key.benchmark = latency_of(model).benchmark;
    outcome.key.commit = nightly.commit;
    outcome.fingerprint =
        json{{"host", host}, {"libtorch", nightly.date}, {"libtorch_config", nightly.date}}.dump();
    store.jobs().record({outcome});
  }
  store.histories().keep(id);
  nightly::keep_trust_figures(store);
}

TEST_F(TrustTest, ShowsSelfComparisons) {
  api.fill([](storage::Store& store) {
    Comparison same;
    same.verdict = Verdict::unchanged;
    store.incidents().record_aa(NightlyId{1}, {latency_of("maml"), same});
    store.incidents().record_aa(NightlyId{2}, {latency_of("dlrm"), slower()});
    nightly::keep_trust_figures(store);
  });

  auto const trust = read("/api/v1/trust");

  EXPECT_EQ(trust.at("threshold"), 0.07);
  auto const& months = trust.at("self_comparisons").at("months");
  ASSERT_THAT(months, SizeIs(1));
  EXPECT_EQ(months.at(0).at("month"), "2026-01");
  EXPECT_EQ(months.at(0).at("of"), 2);
  EXPECT_EQ(months.at(0).at("false_alarms"), 1);
  EXPECT_EQ(months.at(0).at("share"), 0.5);
  auto const& newest = trust.at("self_comparisons").at("newest");
  ASSERT_THAT(newest, SizeIs(2));
  EXPECT_EQ(newest.at(1).at("date"), "2026-01-02");
  EXPECT_EQ(newest.at(1).at("name"), "test_train[dlrm-cpu-eager]_latency");
  EXPECT_EQ(newest.at(1).at("verdict"), "regression");
  EXPECT_EQ(newest.at(1).at("ratio"), 1.2);
  auto const total = read("/api/v1/precision").at("builds_against_themselves");
  EXPECT_EQ(total.at("of"), 2);
  EXPECT_EQ(total.at("false_alarms"), 1);
}

TEST_F(TrustTest, ShowsRulingsAndCostsOfVerdicts) {
  api.fill([](storage::Store& store) {
    nightly::keep_trust_figures(store);
    store.rulings().give(
        Ruling{{}, RulingKind::false_alarm, IncidentId{1}, {}, "ada", "noise", early, {}});
  });

  auto const trust = read("/api/v1/trust");

  ASSERT_THAT(trust.at("rulings"), SizeIs(1));
  EXPECT_EQ(trust.at("rulings").at(0).at("incidents"), 1);
  EXPECT_EQ(trust.at("rulings").at(0).at("accepted"), 0);
  EXPECT_EQ(trust.at("rulings").at(0).at("false_alarms"), 1);
  auto const& costs = trust.at("verdicts").at("items");
  ASSERT_THAT(costs, SizeIs(2));
  EXPECT_EQ(costs.at(0), (json{{"verdict", "regression"}, {"pairs", 6}, {"verdicts", 1}}));
  EXPECT_EQ(costs.at(1).at("verdict"), "unchanged");
}

void happen(storage::Store& store, IncidentEventKind kind, IncidentState state, int hours) {
  IncidentEvent event;
  event.incident = IncidentId{1};
  event.kind = kind;
  event.state = state;
  event.at = early + std::chrono::hours{hours};
  if (kind == IncidentEventKind::explained) event.commit = sha_of('c');
  store.incident_events().add(event, {});
  nightly::keep_incident_months(store);
}

TEST_F(TrustTest, ShowsTimesToCulpritAndToFixByMonth) {
  api.fill([](storage::Store& store) {
    nightly::keep_trust_figures(store);
    happen(store, IncidentEventKind::opened, IncidentState::open, 0);
  });
  auto const opened = read("/api/v1/trust").at("incidents");
  ASSERT_THAT(opened, SizeIs(1));
  EXPECT_EQ(opened.at(0).at("month"), "2026-01");
  EXPECT_EQ(opened.at(0).at("incidents"), 1);
  EXPECT_EQ(opened.at(0).at("to_culprit"),
            (json{{"count", 0}, {"median_s", nullptr}, {"most_s", nullptr}}));

  api.fill([](storage::Store& store) {
    happen(store, IncidentEventKind::explained, IncidentState::explained, 2);
    happen(store, IncidentEventKind::fixed, IncidentState::fixed, 48);
  });
  auto const fixed = read("/api/v1/trust").at("incidents").at(0);
  EXPECT_EQ(fixed.at("to_culprit"), (json{{"count", 1}, {"median_s", 7200}, {"most_s", 7200}}));
  EXPECT_EQ(fixed.at("to_fix"), (json{{"count", 1}, {"median_s", 172800}, {"most_s", 172800}}));

  api.fill([](storage::Store& store) {
    happen(store, IncidentEventKind::returned, IncidentState::returned, 72);
  });
  EXPECT_EQ(read("/api/v1/trust").at("incidents").at(0).at("to_fix").at("count"), 0)
      << "it is not fixed now";
}

TEST(IncidentMonths, AreWrittenOnlyWhenTheyChanged) {
  TemporaryFolder const folder;
  auto store = storage::Store::open(folder.database()).value();
  store_story(store);
  auto reader = storage::Store::open_reader(folder.database()).value();
  nightly::keep_incident_months(store);
  auto const version = reader.version();

  nightly::keep_incident_months(store);

  EXPECT_EQ(reader.version(), version);
  happen(store, IncidentEventKind::explained, IncidentState::explained, 1);
  EXPECT_NE(reader.version(), version);
}

TEST_F(TrustTest, SeparatesHostsByFingerprintWithoutPyTorch) {
  api.fill([](storage::Store& store) {
    for (int day = 1; day <= 5; ++day)
      measure_night(store, day, day == 5 ? 15 : 10, day == 5 ? "slow" : "fast");
  });

  auto const hosts = read("/api/v1/trust").at("hosts").at("items");

  // The story's own host measured two nights of dlrm.
  ASSERT_THAT(hosts, SizeIs(3)) << hosts;
  EXPECT_EQ(hosts.at(0).at("fingerprint"), json({{"host", "fast"}})) << "without its PyTorch";
  EXPECT_EQ(hosts.at(0).at("ratio"), 1);
  EXPECT_EQ(hosts.at(0).at("levels"), 8);
  EXPECT_EQ(hosts.at(1).at("fingerprint"), json({{"host", "slow"}}));
  EXPECT_EQ(hosts.at(1).at("ratio"), 1.5);
  EXPECT_EQ(hosts.at(1).at("series"), 2);
  EXPECT_EQ(hosts.at(1).at("fleet"), "local");
}

TEST_F(TrustTest, ShowsNoiseOfEachSeries) {
  api.fill([](storage::Store& store) {
    for (int day = 1; day <= 5; ++day)
      measure_night(store, day, 97 + day, "fast");
  });

  auto const noise = read("/api/v1/noise?limit=3");

  EXPECT_EQ(noise.at("total"), 6);
  ASSERT_THAT(noise.at("items"), SizeIs(3));
  auto const& dcgan = noise.at("items").at(1);
  EXPECT_EQ(dcgan.at("name"), "test_train[dcgan-cpu-eager]_latency");
  EXPECT_EQ(dcgan.at("nights"), 5);
  EXPECT_EQ(dcgan.at("level"), 100);
  EXPECT_NEAR(dcgan.at("between"), 0.014826, 1e-6);
  EXPECT_EQ(dcgan.at("within"), 0);
}

TEST_F(TrustTest, ShowsFiguresStoredWithTheLastNightly) {
  api.fill([](storage::Store& store) {
    measure_night(store, 1, 10, "fast");
    measure_night(store, 2, 10, "fast");
    TrustFigures figures;
    figures.noise.push_back({latency_of("resnet"), 30, NightNoise{100, 0.5, 0.25}});
    figures.aa_months = {{"2025-12", {10, 1}}};
    figures.costs = {{Verdict::improvement, 9, 4}};
    figures.incident_months = {{"2025-12", 3, {2, 60, 90}, {}}};
    store.trust().keep(figures);
  });

  auto const noise = read("/api/v1/noise").at("items");

  ASSERT_THAT(noise, SizeIs(1)) << "the response reads stored figures only";
  EXPECT_EQ(noise.at(0).at("name"), "test_train[resnet-cpu-eager]_latency");
  EXPECT_EQ(noise.at(0).at("nights"), 30);
  EXPECT_EQ(noise.at(0).at("between"), 0.5);
  auto const trust = read("/api/v1/trust");
  EXPECT_THAT(trust.at("hosts").at("items"), IsEmpty());
  auto const& months = trust.at("self_comparisons").at("months");
  ASSERT_THAT(months, SizeIs(1));
  EXPECT_EQ(months.at(0).at("month"), "2025-12");
  EXPECT_EQ(months.at(0).at("of"), 10);
  auto const& costs = trust.at("verdicts").at("items");
  ASSERT_THAT(costs, SizeIs(1));
  EXPECT_EQ(costs.at(0), (json{{"verdict", "improvement"}, {"pairs", 9}, {"verdicts", 4}}));
  EXPECT_EQ(trust.at("incidents").at(0).at("to_culprit").at("most_s"), 90);
  EXPECT_EQ(read("/api/v1/precision").at("builds_against_themselves").at("of"), 10);
}

TEST_F(TrustTest, HasNoFiguresBeforeTheyAreStored) {
  EXPECT_THAT(read("/api/v1/noise").at("items"), IsEmpty());
  auto const trust = read("/api/v1/trust");
  EXPECT_THAT(trust.at("hosts").at("items"), IsEmpty());
  EXPECT_THAT(trust.at("self_comparisons").at("months"), IsEmpty());
  EXPECT_THAT(trust.at("verdicts").at("items"), IsEmpty());
  EXPECT_THAT(trust.at("incidents"), IsEmpty());
  auto const precision = read("/api/v1/precision");
  EXPECT_EQ(precision.at("builds_against_themselves").at("of"), 0);
  EXPECT_EQ(precision.at("incidents").at("of"), 1);
}

TEST_F(TrustTest, HasNoNoiseOfSeriesWithOneNightly) {
  api.fill([](storage::Store& store) { measure_night(store, 1, 10, "fast"); });

  auto const dcgan = read("/api/v1/noise").at("items").at(1);

  EXPECT_EQ(dcgan.at("nights"), 1);
  EXPECT_TRUE(dcgan.at("between").is_null());
}

TEST_F(TrustTest, AcceptsOnlyParametersOfPages) {
  EXPECT_EQ(ask(api.port(), get("/api/v1/trust?limit=1")).status, 400);
  EXPECT_EQ(ask(api.port(), get("/api/v1/noise?limit=0")).status, 400);
  EXPECT_THAT(read("/api/v1/noise?offset=100").at("items"), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::tests
