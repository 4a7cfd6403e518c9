#include "daemon/api/json.h"

#include <limits>

#include <gtest/gtest.h>

#include "daemon/api/time.h"

namespace torchwatch::api {
namespace {

Series const series{"gpu", Benchmark{"resnet50", Test::eval, Device::cuda, "eager"}, Metric::gmem};

TEST(ApiJson, TimeIsIso8601InUtc) {
  EXPECT_EQ(iso8601(Timestamp{}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(iso8601(Timestamp{std::chrono::seconds{1767323045}}), "2026-01-02T03:04:05Z");
}

TEST(ApiJson, ASeriesCarriesItsUnitAndItsTorchBenchName) {
  EXPECT_EQ(text_of(json_of(series)),
            R"({"fleet":"gpu","benchmark":"test_eval[resnet50-cuda-eager]","metric":"gmem",)"
            R"("unit":"bytes","name":"test_eval[resnet50-cuda-eager]_gmem"})");
}

TEST(ApiJson, AChangeIsOneFlatObject) {
  SeriesChange change;
  change.series = series;
  change.comparison.verdict = Verdict::regression;
  change.comparison.before = 100;
  change.comparison.after = 110.5;
  change.comparison.ratio = RatioInterval{1.105, 1.1, 1.11};
  change.comparison.error_bound = 0.001;
  change.comparison.pairs = 2;

  EXPECT_EQ(text_of(json_of(change)),
            R"({"fleet":"gpu","benchmark":"test_eval[resnet50-cuda-eager]","metric":"gmem",)"
            R"("unit":"bytes","name":"test_eval[resnet50-cuda-eager]_gmem",)"
            R"("verdict":"regression","before":100.0,"after":110.5,)"
            R"("ratio":1.105,"low":1.1,"high":1.11,"error_bound":0.001,"pairs":2,"muted":false})");
}

TEST(ApiJson, AChangeFromNothingHasNoRatio) {
  Comparison leak;
  leak.verdict = Verdict::regression;
  leak.after = 64;

  EXPECT_EQ(text_of(json_of(leak)),
            R"({"verdict":"regression","before":0.0,"after":64.0,)"
            R"("ratio":null,"low":null,"high":null,"error_bound":0.0,"pairs":0})");
}

TEST(ApiJson, NumbersThatAreNoneAreNull) {
  Comparison comparison;
  comparison.before = std::numeric_limits<double>::quiet_NaN();
  comparison.after = std::numeric_limits<double>::infinity();

  auto const text = text_of(json_of(comparison));

  EXPECT_NE(text.find(R"("before":null,"after":null)"), std::string::npos) << text;
}

TEST(ApiJson, TextThatIsNotUtf8IsRepaired) {
  Commit commit;
  commit.subject = "caf\xe9";

  EXPECT_NE(text_of(json_of(commit, "")).find("caf\xef\xbf\xbd"), std::string::npos);
}

TEST(ApiJson, ACommitIsLinkedWhereItsProjectIsShown) {
  Commit commit;
  commit.sha.hex = std::string(40, 'a');

  EXPECT_EQ(json_of(commit, "https://example.org/p").at("url"),
            "https://example.org/p/commit/" + commit.sha.hex);
  EXPECT_TRUE(json_of(commit, "").at("url").is_null());
  EXPECT_TRUE(json_of(commit, "").at("pull_request").is_null());
}

TEST(ApiJson, WhatANightlyDoesNotHaveIsNull) {
  Nightly const nightly;
  auto const json = json_of(nightly);

  for (auto const* name : {"version", "release_commit", "baseline", "failure"})
    EXPECT_TRUE(json.at(name).is_null()) << name;
  EXPECT_FALSE(json.contains("prefix"));
}

TEST(ApiJson, ARangeHasNoCulprit) {
  Bisection bisection;
  bisection.outcome = BisectionOutcome::range;
  bisection.suspects.resize(2);

  auto const json = json_of(bisection, "");

  EXPECT_TRUE(json.at("culprit").is_null());
  EXPECT_EQ(json.at("suspects").size(), 2U);
}

TEST(ApiJson, AFingerprintThatIsNoDocumentIsNull) {
  IncidentStory story;
  story.fingerprint = "not json";
  EXPECT_TRUE(json_of(story, "").at("fingerprint").is_null());
  story.fingerprint = R"({"cpu":"x"})";
  EXPECT_EQ(json_of(story, "").at("fingerprint").at("cpu"), "x");
}

}  // namespace
}  // namespace torchwatch::api
