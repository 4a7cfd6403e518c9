#include "runner/acceptance.h"

#include <limits>

#include <gtest/gtest.h>

#include "storage/domain/metric.h"

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

  std::string problem() const { return check_outcome(outcome, job); }

  protocol::Job job;
  protocol::Outcome outcome;
};

TEST_F(AcceptanceTest, AGoodOutcomeIsAccepted) {
  EXPECT_EQ(problem(), "");
}

TEST_F(AcceptanceTest, AnotherBenchmarkIsRejected) {
  outcome.benchmark = "test_train[resnet50-cpu-eager]";
  EXPECT_EQ(problem(), "a result for \"test_train[resnet50-cpu-eager]\"");
}

TEST_F(AcceptanceTest, AResultWithoutLatencyIsRejected) {
  outcome.metrics.erase("latency");
  EXPECT_EQ(problem(), "no latency");
}

/// A result of a suite that declares two metrics, one of them exact.
class SuiteAcceptance : public AcceptanceTest {
 protected:
  SuiteAcceptance() {
    EXPECT_TRUE(declare_metric("test_rate", {.unit = "1/s", .is_higher_better = true}));
    EXPECT_TRUE(declare_metric("test_kernels", {.unit = "1", .is_exact = true}));
    job.metrics = {"test_rate", "test_kernels"};
    outcome.metrics.clear();
    outcome.metrics["test_rate"] = {20, {20, 21, 19}, {}};
    outcome.metrics["test_kernels"] = {0, {0}, {}};
  }
};

TEST_F(SuiteAcceptance, ResultWithAllMetricsIsAccepted) {
  EXPECT_EQ(problem(), "");
}

TEST_F(SuiteAcceptance, ResultWithoutOneOfTheMetricsIsRejected) {
  outcome.metrics.erase("test_kernels");
  EXPECT_EQ(problem(), "metric test_kernels is missing");
}

TEST_F(SuiteAcceptance, MetricThatTheJobDoesNotAskForIsRejected) {
  outcome.metrics["latency"] = {2, {2}, {}};
  EXPECT_EQ(problem(), "an unknown metric \"latency\"");
}

TEST_F(SuiteAcceptance, MetricWithoutDeclarationIsCheckedForItsRange) {
  job.metrics = {"test_undeclared"};
  outcome.metrics.clear();
  outcome.metrics["test_undeclared"] = {0, {0, 1}, {}};
  EXPECT_EQ(problem(), "");
  for (double const value : {-1.0, nan, infinity, 1e300}) {
    outcome.metrics["test_undeclared"].value = value;
    EXPECT_NE(problem(), "") << value;
  }
}

TEST_F(SuiteAcceptance, NoisyMetricIsPositiveAndAnExactOneIsNotNegative) {
  outcome.metrics["test_rate"].value = 0;
  EXPECT_EQ(problem(), "a test_rate of 0.000000");
  outcome.metrics["test_rate"].value = 20;
  outcome.metrics["test_kernels"].value = -1;
  EXPECT_EQ(problem(), "a test_kernels of -1.000000");
}

TEST_F(SuiteAcceptance, ExactMetricHasOneSample) {
  outcome.metrics["test_kernels"].samples = {0, 0};
  EXPECT_EQ(problem(), "2 samples of test_kernels, allowed are 1");
}

TEST_F(AcceptanceTest, AnUnknownMetricIsRejected) {
  outcome.metrics["beauty"] = {1, {}, {}};
  EXPECT_EQ(problem(), "an unknown metric \"beauty\"");
}

TEST_F(AcceptanceTest, TimesArePositive) {
  for (double const value : {0.0, -1.0, nan, infinity, 1e-310, 1.7e308}) {
    outcome.metrics["latency"].value = value;
    EXPECT_NE(problem(), "") << value;
  }
}

TEST_F(AcceptanceTest, SamplesAreCheckedLikeTheirMetric) {
  outcome.metrics["latency"].samples[1] = -0.001;
  EXPECT_EQ(problem(), "a sample of latency of -0.001000");
}

TEST_F(AcceptanceTest, MemoryIsNotNegative) {
  outcome.metrics["cmem"].value = -1e12;
  EXPECT_EQ(problem(), "a cmem of -1000000000000.000000");
}

TEST_F(AcceptanceTest, MoreSamplesThanRunsAreRejected) {
  outcome.metrics["latency"].samples.assign(4, 2);
  EXPECT_EQ(problem(), "");
  outcome.metrics["latency"].samples.assign(5, 2);
  EXPECT_EQ(problem(), "5 samples of latency, allowed are 4");
}

TEST_F(AcceptanceTest, OutliersAreSamples) {
  outcome.metrics["latency"].outliers = {3};
  EXPECT_EQ(problem(), "outliers of latency that are not samples");
  outcome.metrics["latency"].outliers = {-1};
  EXPECT_EQ(problem(), "outliers of latency that are not samples");
}

TEST_F(AcceptanceTest, SecondsFingerprintAccountsAndProfileAreChecked) {
  auto const good = outcome;
  outcome.seconds = -1;
  EXPECT_EQ(problem(), "-1.000000 seconds");
  outcome = good;
  outcome.fingerprint = nlohmann::json::array();
  EXPECT_EQ(problem(), "a fingerprint that is not an object");
  outcome = good;
  outcome.accounts["rss_peak_bytes"] = nan;
  EXPECT_EQ(problem(), "a rss_peak_bytes of nan");
  outcome = good;
  outcome.profile.front().ms = infinity;
  EXPECT_EQ(problem(), "costs of aten::add that are not numbers");
  outcome = good;
  outcome.profile.resize(2001);
  EXPECT_EQ(problem(), "2001 operators");
}

TEST_F(AcceptanceTest, LargeFingerprintsAndNamesAreRejected) {
  auto const good = outcome;
  outcome.fingerprint["odd"] = std::vector<double>(300, 1e14);
  EXPECT_EQ(problem(), "");
  outcome.fingerprint["odd"] = std::vector<double>(500, 1e14);
  EXPECT_EQ(problem(), "a fingerprint of 9009 bytes");
  outcome = good;
  outcome.profile.assign(2000, {std::string(131, 'x'), 1, 1, 1});
  EXPECT_EQ(problem(), "");
  outcome.profile.assign(2000, {std::string(132, 'x'), 1, 1, 1});
  EXPECT_EQ(problem(), "operators whose names have 264000 bytes");
}

}  // namespace
}  // namespace torchwatch::runner
