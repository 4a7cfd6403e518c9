#include "daemon/api/json.h"

#include <limits>

#include <gtest/gtest.h>

#include "daemon/api/time.h"
#include "storage/domain/words.h"

namespace torchwatch::api {
namespace {

Series const series{"gpu", Benchmark{"resnet50", Test::eval, Device::cuda, "eager"}, Metric::gmem};

TEST(ApiJson, TimeIsIso8601InUtc) {
  EXPECT_EQ(iso8601(Timestamp{}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(iso8601(Timestamp{std::chrono::seconds{1767323045}}), "2026-01-02T03:04:05Z");
  EXPECT_EQ(iso8601(Timestamp{std::chrono::seconds{253402300799}}), "9999-12-31T23:59:59Z");
}

TEST(ApiJson, SeriesHasUnitAndTorchBenchName) {
  EXPECT_EQ(text_of(json_of(series)),
            R"({"fleet":"gpu","benchmark":"test_eval[resnet50-cuda-eager]","metric":"gmem",)"
            R"("unit":"bytes","better":"lower","name":"test_eval[resnet50-cuda-eager]_gmem"})");
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
            R"("unit":"bytes","better":"lower","name":"test_eval[resnet50-cuda-eager]_gmem",)"
            R"("headline":"+10.5%","interval":"[+10.0%, +11.0%]",)"
            R"("certainty":"at least +10.0%, confidence 99.9%",)"
            R"("verdict":"regression","before":100.0,"after":110.5,)"
            R"("ratio":1.105,"low":1.1,"high":1.11,"error_bound":0.001,"pairs":2,"muted":false})");
}

TEST(ApiJson, AChangeFromNothingHasNoRatio) {
  Comparison leak;
  leak.verdict = Verdict::regression;
  leak.after = 64;

  EXPECT_EQ(
      text_of(json_of(leak, Metric::leak)),
      R"({"better":"lower","headline":"from 0 to 64 bytes/iteration","interval":null,"certainty":"confidence 99.9%",)"
      R"("verdict":"regression","before":0.0,"after":64.0,)"
      R"("ratio":null,"low":null,"high":null,"error_bound":0.0,"pairs":0})");
}

TEST(ApiJson, NanIsNull) {
  Comparison comparison;
  comparison.before = std::numeric_limits<double>::quiet_NaN();
  comparison.after = std::numeric_limits<double>::infinity();

  auto const text = text_of(json_of(comparison, Metric::gmem));

  EXPECT_NE(text.find(R"("before":null,"after":null)"), std::string::npos) << text;
}

TEST(ApiJson, ComparisonOfFailedProcessesHasNoLevels) {
  Comparison failed;
  failed.pairs = 2;
  auto const json = json_of(failed, Metric::gmem);
  EXPECT_TRUE(json.at("before").is_null());
  EXPECT_TRUE(json.at("after").is_null());
  EXPECT_EQ(json.at("pairs"), 2);
}

TEST(ApiJson, TextThatIsNotUtf8IsRepaired) {
  Commit commit;
  commit.subject = "caf\xe9";

  EXPECT_NE(text_of(json_of(commit, "")).find("caf\xef\xbf\xbd"), std::string::npos);
}

TEST(ApiJson, CommitHasUrlIfProjectHasOne) {
  Commit commit;
  commit.sha.hex = std::string(40, 'a');

  EXPECT_EQ(json_of(commit, "https://example.org/p").at("url"),
            "https://example.org/p/commit/" + commit.sha.hex);
  EXPECT_TRUE(json_of(commit, "").at("url").is_null());
  EXPECT_TRUE(json_of(commit, "").at("pull_request").is_null());
}

TEST(ApiJson, MissingFieldsOfNightlyAreNull) {
  Nightly const nightly;
  auto const json = json_of(nightly);

  for (auto const* name : {"version", "release_commit", "baseline", "failure"})
    EXPECT_TRUE(json.at(name).is_null()) << name;
  EXPECT_FALSE(json.contains("prefix"));
}

Finding finding_of(std::size_t suspects, Verdict verdict) {
  Effect effect;
  effect.series = series;
  effect.before = 100;
  effect.after = 110.5;
  effect.probability = 0.99;
  effect.proof = Comparison{verdict, 100, 110.5, RatioInterval{1.105, 1.1, 1.11}, 0.001, 2};
  effect.share = 0.5;
  return {std::vector<Commit>(suspects), {effect}};
}

TEST(ApiJson, ProvedCommitIsCulprit) {
  auto finding = finding_of(1, Verdict::regression);
  finding.suspects.front().sha.hex = std::string(40, 'a');

  auto const json = json_of(finding, {}, "");

  EXPECT_EQ(json.at("headline"), "Culprit");
  EXPECT_EQ(json.at("reason"), "proved against its parent");
  EXPECT_EQ(json.at("culprit").at("sha"), finding.suspects.front().sha.hex);
  EXPECT_EQ(json.at("suspects").at(0), json.at("culprit"));
}

TEST(ApiJson, AFinding_HasItsRevertApproversAndEarlierIncident) {
  auto finding = finding_of(1, Verdict::regression);
  auto const plain = json_of(finding, {}, "");
  EXPECT_TRUE(plain.at("reverted_by").is_null());
  EXPECT_TRUE(plain.at("earlier_incident").is_null());
  EXPECT_TRUE(plain.at("approvers").empty());
  finding.reverted_by = CommitSha{std::string(40, 'd')};
  finding.approvers = {"ada"};
  finding.earlier = EarlierIncident{IncidentId{3}, "2026-11-18", ""};

  auto const json = json_of(finding, {}, "");

  EXPECT_EQ(json.at("reason"),
            "proved against its parent; already reverted on trunk by dddddddddddd; the culprit of "
            "incident 3 had the same title or pull request");
  EXPECT_EQ(json.at("reverted_by"), std::string(40, 'd'));
  EXPECT_EQ(text_of(json.at("approvers")), R"(["ada"])");
  EXPECT_EQ(text_of(json.at("earlier_incident")),
            R"({"id":3,"url":"/api/v1/incidents/3","date":"2026-11-18","report":null})");
}

TEST(ApiJson, BisectionOfOlderEnd_HasMissingCommits) {
  Bisection bisection;
  bisection.request.start.hex = std::string(40, 'a');
  bisection.request.end.hex = std::string(40, 'b');
  EXPECT_TRUE(json_of(bisection, "").at("ancestry").is_null());
  bisection.ancestry = Ancestry{bisection.request.end, 5, 0};
  bisection.findings = {finding_of(1, Verdict::regression)};
  bisection.findings.front().missing = 1;
  bisection.findings.front().merged = 2;

  auto const json = json_of(bisection, "");

  EXPECT_EQ(text_of(json.at("ancestry")),
            R"({"base":")" + std::string(40, 'b') + R"(","missing":5,"added":0})");
  EXPECT_EQ(
      json.at("reason"),
      "the bad build was built from an older commit: bbbbbbbbbbbb..aaaaaaaaaaaa is missing in "
      "it (5 commits); it has not finished yet");
  EXPECT_EQ(json.at("findings").at(0).at("headline"), "Missing improvement");
  EXPECT_EQ(json.at("findings").at(0).at("missing"), 1);
  EXPECT_EQ(json.at("findings").at(0).at("merged"), 2);
}

TEST(ApiJson, ABisectionIntoAMerge_NamesTheMergeAndTheOtherBisection) {
  Bisection bisection;
  EXPECT_TRUE(json_of(bisection, "").at("inside").is_null());
  bisection.inside = SearchedMerge{BisectionId{1}, CommitSha{std::string(40, 'e')}, 5};
  bisection.findings = {finding_of(1, Verdict::regression)};
  EXPECT_TRUE(json_of(bisection, "").at("findings").at(0).at("searched_by").is_null());
  bisection.findings.front().searched_by = BisectionId{3};

  auto const json = json_of(bisection, "");

  EXPECT_EQ(text_of(json.at("inside")),
            R"({"bisection":1,"merge":")" + std::string(40, 'e') + R"(","merged":5})");
  EXPECT_EQ(json.at("findings").at(0).at("searched_by"), 3);
  EXPECT_TRUE(
      json.at("reason").get<std::string>().starts_with("the change came with merge eeeeeeeeeeee"));
}

TEST(ApiJson, UnprovedCommitIsNotCulprit) {
  EXPECT_TRUE(json_of(finding_of(1, Verdict::inconclusive), {}, "").at("culprit").is_null());
}

TEST(ApiJson, ARangeHasNoCulprit) {
  Bisection bisection;
  bisection.outcome = BisectionOutcome::range;
  bisection.findings = {finding_of(2, Verdict::regression)};

  auto const json = json_of(bisection, "");

  EXPECT_EQ(json.at("outcome"), "range");
  auto const& finding = json.at("findings").at(0);
  EXPECT_TRUE(finding.at("culprit").is_null());
  EXPECT_EQ(finding.at("suspects").size(), 2U);
}

TEST(ApiJson, Bisection_HasReasonOnlyWithItsSteps) {
  Bisection bisection;
  bisection.state = BisectionState::failed;
  bisection.failure = "repository is gone";

  auto const json = json_of(bisection, "");

  EXPECT_EQ(json.at("headline"), "Failed");
  EXPECT_EQ(json.at("reason"), "repository is gone");
  auto const listed = json_of(bisection, StepTally{}, "");
  EXPECT_EQ(listed.at("headline"), "Failed");
  EXPECT_FALSE(listed.contains("reason"));
}

TEST(ApiJson, Packages_HaveHeadlineAndReason) {
  Bisection bisection;
  bisection.packages = Packages{{"+ gcc 13"}, {}};

  auto const packages = json_of(bisection, "").at("packages");

  EXPECT_EQ(packages.at("headline"), "Apart from their commits, the two nightly builds differ");
  EXPECT_TRUE(packages.at("reason").is_string());
  bisection.packages->differences.clear();
  EXPECT_TRUE(json_of(bisection, "").at("packages").at("headline").is_null());
}

TEST(ApiJson, RequestHasAllItsFields) {
  BisectionRequest const request{{"a1"}, {"b2"}, {series}, 0.125, Direction::both, Prior::paths};

  EXPECT_EQ(text_of(json_of(request)),
            R"({"start":"a1","end":"b2","series":[)" + text_of(json_of(series)) +
                R"(],"threshold":0.125,"direction":"both","prior":"paths"})");
}

TEST(ApiJson, EffectHasItsProof) {
  auto const finding = finding_of(1, Verdict::regression);
  auto effect = finding.effects.front();

  EXPECT_EQ(text_of(json_of(effect, finding)),
            R"({"series":)" + text_of(json_of(series)) + R"(,"reason":")" +
                words::evidence(effect, finding) +
                R"(","before":100.0,"after":110.5,"probability":0.99,)"
                R"("proof":)" +
                text_of(json_of(*effect.proof, series.metric)) +
                R"(,"share":0.5,"revert_check":null,"rebuilt":null,"is_doubted":false})");
  effect.proof.reset();
  EXPECT_TRUE(json_of(effect, finding).at("proof").is_null());
}

BisectionStep planned_step() {
  BisectionStep step;
  step.wave = 3;
  step.fleet = "gpu";
  step.benchmark = series.benchmark;
  step.commits = {CommitSha{"a1"}, CommitSha{"b2"}};
  step.reason = "31 of 31 suspects left; expected information gain 0.84 bits in 64 s";
  return step;
}

TEST(ApiJson, PlannedStepHasNoReadings) {
  EXPECT_EQ(
      text_of(json_of(planned_step())),
      R"({"wave":3,"stage":"commits","fleet":"gpu","benchmark":"test_eval[resnet50-cuda-eager]",)"
      R"("commits":["a1","b2"],"reason":"31 of 31 suspects left; expected information gain 0.84 bits in 64 s",)"
      R"("done":false,"readings":{},"units":{},"skipped":null,"note":"","beliefs":[]})");
}

TEST(ApiJson, DoneStepHasReadingsAndBeliefs) {
  auto step = planned_step();
  step.is_done = true;
  step.readings = {{Metric::latency, {10, 12.5}}, {Metric::gmem, {64, 64}}};
  step.beliefs = {{series, 0.25, CommitSha{"a1"}, CommitSha{"b2"}, 0.5}};

  auto const json = json_of(step);

  EXPECT_EQ(json.at("done"), true);
  EXPECT_EQ(text_of(json.at("readings")), R"({"latency":[10.0,12.5],"gmem":[64.0,64.0]})");
  EXPECT_EQ(text_of(json.at("units")), R"({"latency":"ms","gmem":"bytes"})");
  EXPECT_EQ(text_of(json.at("beliefs").at(0)),
            R"({"series":)" + text_of(json_of(series)) +
                R"(,"no_change":0.25,"suspects":["a1","b2"],"probability":0.5})");
}

TEST(ApiJson, FailedStepHasReason) {
  auto step = planned_step();
  step.is_done = true;
  step.skipped = CommitSha{"b2"};
  step.note = "recipe: exit status 125";

  auto const json = json_of(step);

  EXPECT_EQ(json.at("skipped"), "b2");
  EXPECT_EQ(json.at("note"), "recipe: exit status 125");
  EXPECT_TRUE(json.at("readings").empty());
}

TEST(ApiJson, InvalidFingerprintIsNull) {
  IncidentStory story;
  story.fingerprint = "not json";
  EXPECT_TRUE(json_of(story, "").at("fingerprint").is_null());
  story.fingerprint = R"({"cpu":"x"})";
  EXPECT_EQ(json_of(story, "").at("fingerprint").at("cpu"), "x");
}

}  // namespace
}  // namespace torchwatch::api
