#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/api/http_client.h"
#include "tests/api/live_api.h"

namespace torchwatch::tests {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string const of_dcgan =
    "/api/v1/change_points?fleet=local&benchmark=test_train%5Bdcgan-cpu-eager%5D&metric=";

/// Returns a metric whose higher values are better.
Metric throughput() {
  MetricKind const kind{.unit = "1/s", .is_higher_better = true};
  return declare_metric("change_points_throughput", kind).value();
}

/// Stores a nightly with two processes, and two of its baseline, which do not count.
void measure_night(storage::Store& store, int day, double ms, double leak) {
  char const digit = static_cast<char>('a' + day % 6);
  Nightly nightly;
  nightly.date = (day < 10 ? "2026-02-0" : "2026-02-") + std::to_string(day);
  nightly.commit = sha_of(digit);
  nightly.announced_at = early;
  store.nightlies().announce(nightly);
  auto const id = store.nightlies().all().back().id;
  for (int round = 0; round < 2; ++round) {
    auto outcome = outcome_of(Campaign::of(id), round, ms + round);
    outcome.values[Metric::leak] = MetricValue{leak, {leak}};
    outcome.values[throughput()] = MetricValue{1e4 / ms, {1e4 / ms}};
    outcome.key.benchmark = latency_of("dcgan").benchmark;
    auto baseline = outcome;
    outcome.key.commit = nightly.commit;
    baseline.key.commit = sha_of('9');
    baseline.values[Metric::latency].value = 1000;
    store.jobs().record({outcome, baseline});
  }
  store.histories().keep(id);
}

class ChangePointsTest : public ::testing::Test {
 protected:
  ChangePointsTest() {
    api.fill([](storage::Store& store) {
      for (int day = 1; day <= 24; ++day)
        measure_night(store, day, (day < 15 ? 20 : 24) + 0.1 * (day % 3), day < 15 ? 0 : 4096);
    });
  }

  json read(std::string const& metric) {
    auto const answer = ask(api.port(), get(of_dcgan + metric));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  }

  LiveApi api;
};

TEST_F(ChangePointsTest, NameTheNightlyAtWhichALevelBegan) {
  auto const found = read("latency");

  EXPECT_EQ(found.at("benchmark"), "test_train[dcgan-cpu-eager]");
  ASSERT_THAT(found.at("change_points"), SizeIs(1)) << found;
  auto const& point = found.at("change_points").at(0);
  EXPECT_EQ(point.at("nightly").at("date"), "2026-02-15");
  EXPECT_EQ(point.at("effect"), "worse");
  EXPECT_EQ(point.at("by"), "ratio");
  EXPECT_NEAR(point.at("change"), 24.6 / 20.6, 0.01);
  EXPECT_LT(point.at("low"), point.at("change"));
  EXPECT_GT(point.at("high"), point.at("change"));
}

TEST_F(ChangePointsTest, AreDifferencesWhereALevelIsZero) {
  auto const found = read("leak");

  ASSERT_THAT(found.at("change_points"), SizeIs(1)) << found;
  EXPECT_EQ(found.at("change_points").at(0).at("by"), "difference");
  EXPECT_EQ(found.at("change_points").at(0).at("change"), 4096);
}

TEST_F(ChangePointsTest, AreWorseForADropWhereHigherIsBetter) {
  auto const found = read("change_points_throughput");

  EXPECT_EQ(found.at("better"), "higher");
  ASSERT_THAT(found.at("change_points"), SizeIs(1)) << found;
  EXPECT_EQ(found.at("change_points").at(0).at("effect"), "worse");
  EXPECT_LT(found.at("change_points").at(0).at("change"), 1) << "as measured";
}

TEST_F(ChangePointsTest, AreEmptyForFlatHistory) {
  EXPECT_THAT(read("cmem").at("change_points"), IsEmpty());
}

TEST_F(ChangePointsTest, NeedASeries) {
  EXPECT_EQ(ask(api.port(), get("/api/v1/change_points")).status, 400);
  EXPECT_EQ(ask(api.port(), get(of_dcgan + "gmem")).status, 404);
}

}  // namespace
}  // namespace torchwatch::tests
