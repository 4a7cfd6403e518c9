#include "storage/trust.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

using TrustFiguresTest = TablesTest;

TEST_F(TrustFiguresTest, AreNoneBeforeTheFirst) {
  EXPECT_THAT(store.trust().noise(), IsEmpty());
  EXPECT_THAT(store.trust().hosts(), IsEmpty());
  EXPECT_THAT(store.trust().aa_months(), IsEmpty());
  EXPECT_THAT(store.trust().costs(), IsEmpty());
  EXPECT_THAT(store.trust().incident_months(), IsEmpty());
}

TEST_F(TrustFiguresTest, AreReadAsTheyWereStored) {
  TrustFigures figures;
  figures.noise.push_back({latency_of("dlrm"), 30, NightNoise{12.5, 0.1, 1.0 / 3}});
  figures.noise.push_back({latency_of("maml"), 1, std::nullopt});
  figures.hosts.push_back({"local", R"({"host":"a"})", HostPace{1.5, 1.25, 2, 3, 4}});

  store.trust().keep(figures);

  auto const noise = store.trust().noise();
  ASSERT_THAT(noise, SizeIs(2));
  EXPECT_EQ(noise[0].series, latency_of("dlrm"));
  EXPECT_EQ(noise[0].nights, 30U);
  ASSERT_TRUE(noise[0].noise);
  EXPECT_EQ(noise[0].noise->level, 12.5);
  EXPECT_EQ(noise[0].noise->between, 0.1);
  EXPECT_EQ(noise[0].noise->within, 1.0 / 3);
  EXPECT_EQ(noise[1].nights, 1U);
  EXPECT_FALSE(noise[1].noise);
  auto const hosts = store.trust().hosts();
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].fleet, "local");
  EXPECT_EQ(hosts[0].fingerprint, R"({"host":"a"})");
  EXPECT_EQ(hosts[0].pace.ratio, 1.5);
  EXPECT_EQ(hosts[0].pace.low, 1.25);
  EXPECT_EQ(hosts[0].pace.high, 2);
  EXPECT_EQ(hosts[0].pace.series, 3U);
  EXPECT_EQ(hosts[0].pace.nights, 4U);
}

TEST_F(TrustFiguresTest, OfVerdictsAreReadAsTheyWereStored) {
  TrustFigures figures;
  figures.aa_months = {{"2026-01", {60, 0}}, {"2026-02", {56, 1}}};
  figures.costs = {{Verdict::regression, 6, 2}, {Verdict::unchanged, 13, 40}};

  store.trust().keep(figures);

  auto const months = store.trust().aa_months();
  ASSERT_THAT(months, SizeIs(2));
  EXPECT_EQ(months[0].month, "2026-01");
  EXPECT_EQ(months[1].tally.comparisons, 56);
  EXPECT_EQ(months[1].tally.alarms, 1);
  auto const costs = store.trust().costs();
  ASSERT_THAT(costs, SizeIs(2));
  EXPECT_EQ(costs[0].verdict, Verdict::regression);
  EXPECT_EQ(costs[0].pairs, 6);
  EXPECT_EQ(costs[1].verdict, Verdict::unchanged);
  EXPECT_EQ(costs[1].verdicts, 40);
}

TEST_F(TrustFiguresTest, OfIncidentsAreReplacedAlone) {
  std::vector<IncidentMonth> const months{{"2026-01", 3, {2, 60, 90}, {1, 86400, 86400}},
                                          {"2026-02", 1, {}, {}}};
  store.trust().keep_incident_months(months);
  EXPECT_EQ(store.trust().incident_months(), months) << "before the first nightly";
  TrustFigures figures;
  figures.costs = {{Verdict::regression, 6, 2}};
  store.trust().keep(figures);
  EXPECT_THAT(store.trust().incident_months(), IsEmpty());

  store.trust().keep_incident_months(months);

  EXPECT_EQ(store.trust().incident_months(), months);
  EXPECT_THAT(store.trust().costs(), SizeIs(1));
}

TEST_F(TrustFiguresTest, AreReplacedByTheNext) {
  for (auto const* const model : {"dlrm", "maml"}) {
    TrustFigures figures;
    figures.noise.push_back({latency_of(model), 1, std::nullopt});
    store.trust().keep(figures);
  }

  auto const noise = store.trust().noise();
  ASSERT_THAT(noise, SizeIs(1));
  EXPECT_EQ(noise[0].series, latency_of("maml"));
}

TEST_F(TrustFiguresTest, OfDeepJsonAreAnError) {
  store.trust().keep({});
  auto const deep = std::string(100'000, '[') + std::string(100'000, ']');
  SQLite::Database{folder.database().string(), SQLite::OPEN_READWRITE}.exec(
      "UPDATE trust_figures SET noise = '" + deep + "', hosts = '" + deep + "'");

  EXPECT_THAT([&] { store.trust().noise(); },
              ThrowsMessage<std::runtime_error>(
                  HasSubstr("column noise JSON nested deeper than 32 levels")));
  EXPECT_THAT([&] { store.trust().hosts(); },
              ThrowsMessage<std::runtime_error>(
                  HasSubstr("column hosts JSON nested deeper than 32 levels")));
}

}  // namespace
}  // namespace torchwatch::tests
