#include "runner/acceptance.h"

#include <limits>

#include <gtest/gtest.h>

namespace torchwatch::runner {
namespace {

constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
constexpr auto infinity = std::numeric_limits<double>::infinity();

class AcceptanceTest : public testing::Test {
 protected:
  AcceptanceTest() {
    job.benchmark = "test_eval[resnet50-cpu-eager]";
    job.measure.runs = 3;
    job.measure.leak_iterations = 4;
    outcome.benchmark = job.benchmark;
    outcome.metrics["latency"] = {2, {2, 1, 30}, {2}};
    outcome.metrics["cmem"] = {1e6, {1e6}, {}};
    outcome.metrics["leak"] = {-8, {-8, 0, -16}, {}};
    outcome.accounts["rss_peak_bytes"] = 1e9;
    outcome.profile = {{"aten::add", 2, 0.5, 64}};
    outcome.seconds = 3;
  }

  std::string objection() const { return check_outcome(outcome, job); }

  protocol::Job job;
  protocol::Outcome outcome;
};

TEST_F(AcceptanceTest, AGoodOutcomeIsAccepted) {
  EXPECT_EQ(objection(), "");
}

TEST_F(AcceptanceTest, ItIsOfTheBenchmarkThatWasAskedFor) {
  outcome.benchmark = "test_train[resnet50-cpu-eager]";
  EXPECT_EQ(objection(), "metrics of \"test_train[resnet50-cpu-eager]\"");
}

TEST_F(AcceptanceTest, ItHasALatency) {
  outcome.metrics.erase("latency");
  EXPECT_EQ(objection(), "no latency");
}

TEST_F(AcceptanceTest, ItHasNoMetricThatNobodyAskedFor) {
  outcome.metrics["beauty"] = {1, {}, {}};
  EXPECT_EQ(objection(), "a metric \"beauty\", which nobody asked for");
}

TEST_F(AcceptanceTest, TimesArePositive) {
  for (double const value : {0.0, -1.0, nan, infinity, 1e-310, 1.7e308}) {
    outcome.metrics["latency"].value = value;
    EXPECT_NE(objection(), "") << value;
  }
}

TEST_F(AcceptanceTest, SamplesAreLikeTheirMetric) {
  outcome.metrics["latency"].samples[1] = -0.001;
  EXPECT_EQ(objection(), "a sample of latency of -0.001000");
}

TEST_F(AcceptanceTest, MemoryIsNotNegative) {
  outcome.metrics["cmem"].value = -1e12;
  EXPECT_EQ(objection(), "a cmem of -1000000000000.000000");
}

TEST_F(AcceptanceTest, SamplesAreAtMostAsManyAsRuns) {
  outcome.metrics["latency"].samples.assign(4, 2);
  EXPECT_EQ(objection(), "");
  outcome.metrics["latency"].samples.assign(5, 2);
  EXPECT_EQ(objection(), "5 samples of latency, asked were 4");
}

TEST_F(AcceptanceTest, OutliersAreSamples) {
  outcome.metrics["latency"].outliers = {3};
  EXPECT_EQ(objection(), "outliers of latency that are no samples");
  outcome.metrics["latency"].outliers = {-1};
  EXPECT_EQ(objection(), "outliers of latency that are no samples");
}

TEST_F(AcceptanceTest, TheRestIsSoundToo) {
  auto const good = outcome;
  outcome.seconds = -1;
  EXPECT_EQ(objection(), "-1.000000 seconds");
  outcome = good;
  outcome.fingerprint = nlohmann::json::array();
  EXPECT_EQ(objection(), "a fingerprint that is no object");
  outcome = good;
  outcome.accounts["rss_peak_bytes"] = nan;
  EXPECT_EQ(objection(), "a rss_peak_bytes of nan");
  outcome = good;
  outcome.profile.front().ms = infinity;
  EXPECT_EQ(objection(), "costs of aten::add that are no numbers");
  outcome = good;
  outcome.profile.resize(2001);
  EXPECT_EQ(objection(), "2001 operators");
}

TEST_F(AcceptanceTest, WhatIsKeptOfEachResultIsSmall) {
  auto const good = outcome;
  outcome.fingerprint["odd"] = std::vector<double>(300, 1e14);
  EXPECT_EQ(objection(), "");
  outcome.fingerprint["odd"] = std::vector<double>(500, 1e14);
  EXPECT_EQ(objection(), "a fingerprint of 9009 bytes");
  outcome = good;
  outcome.profile.assign(2000, {std::string(131, 'x'), 1, 1, 1});
  EXPECT_EQ(objection(), "");
  outcome.profile.assign(2000, {std::string(132, 'x'), 1, 1, 1});
  EXPECT_EQ(objection(), "operators whose names have 264000 bytes");
}

}  // namespace
}  // namespace torchwatch::runner
