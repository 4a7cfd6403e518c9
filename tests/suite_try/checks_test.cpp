#include "daemon/suite_try/checks.h"

#include <cmath>
#include <utility>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "daemon/cli/suite_try.h"

namespace torchwatch::suite_try {
namespace {

using testing::HasSubstr;
using testing::Not;

Declared const declared{{"time", {.unit = "ms"}},
                        {"rate", {.unit = "1/s", .is_higher_better = true}},
                        {"steps", {.unit = "1", .is_exact = true}}};

protocol::Job job_of_suite() {
  protocol::Job job;
  job.id = "1";
  job.benchmark = "test_run[tiny-cpu-plain]";
  job.metrics = {"time", "rate", "steps"};
  job.exact = {"steps"};
  job.measure.runs = 2;
  return job;
}

protocol::Outcome good_outcome() {
  protocol::Outcome outcome;
  outcome.id = "1";
  outcome.benchmark = "test_run[tiny-cpu-plain]";
  outcome.metrics["time"] = {20, {19, 21}};
  outcome.metrics["rate"] = {50, {52, 48}};
  outcome.metrics["steps"] = {7, {7}};
  return outcome;
}

Reply reply_with(protocol::Outcome outcome) {
  Reply reply;
  reply.outcome = std::move(outcome);
  return reply;
}

Reply reply_with_failure(std::string code, std::string text) {
  Reply reply;
  reply.failure = protocol::Failure{"1", std::move(code), std::move(text)};
  return reply;
}

Heard heard(protocol::Message message) {
  Heard one;
  one.kind = Heard::Kind::message;
  one.message = std::move(message);
  return one;
}

protocol::Hello hello_of_worker() {
  protocol::Hello hello;
  hello.role = "worker";
  return hello;
}

void expect_passed(CheckResult const& result) {
  EXPECT_EQ(result.state, State::passed) << result.check << ": " << result.found;
  EXPECT_EQ(result.mend, "");
}

void expect_failed(CheckResult const& result, std::string const& found) {
  EXPECT_EQ(result.state, State::failed) << result.check << ": " << result.found;
  EXPECT_THAT(result.found, HasSubstr(found));
  EXPECT_NE(result.mend, "");
}

TEST(CheckHello, AcceptsAWorkerOfThisProtocol) {
  auto const result = check_hello(heard(hello_of_worker()), 0.31);
  expect_passed(result);
  EXPECT_THAT(result.found, HasSubstr("0.3 s"));
}

TEST(CheckHello, NamesWhatIsWrong) {
  auto hello = hello_of_worker();
  hello.protocol = 4;
  expect_failed(check_hello(heard(hello), 0), "it uses protocol 4");
  hello.protocol = protocol::version;
  hello.role = "runner";
  expect_failed(check_hello(heard(hello), 0), "its role is \"runner\"");
  expect_failed(check_hello(heard(protocol::Ready{"1"}), 0), "its first message is a ready");
  expect_failed(check_hello(Heard{}, 60), "no hello within 60 s");
  Heard ended;
  ended.kind = Heard::Kind::ended;
  ended.text = "it ended: exit status 1";
  expect_failed(check_hello(ended, 0), "it ended: exit status 1");
}

TEST(CheckAnswer, WantsAResultOfTheJob) {
  expect_passed(check_answer(reply_with(good_outcome()), job_of_suite()));
  auto other = good_outcome();
  other.id = "2";
  expect_failed(check_answer(reply_with(other), job_of_suite()), "a result with id \"2\"");
}

TEST(CheckAnswer, AdvisesOnTheFailure) {
  auto const result = check_answer(
      reply_with_failure("failed", "[Errno 30] Read-only file system: 'x'"), job_of_suite());
  expect_failed(result, "failed: [Errno 30]");
  EXPECT_THAT(result.mend, HasSubstr("$TMPDIR"));
}

TEST(CheckOutput, QuotesTheFirstLineThatIsNoMessage) {
  expect_passed(check_output({}));
  expect_failed(check_output({"\"Downloading\": not a message", "more"}), "found \"Downloading\"");
}

TEST(CheckMetrics, WantsAllDeclaredOnesAndNoOthers) {
  expect_passed(check_metrics(good_outcome(), job_of_suite()));
  auto outcome = good_outcome();
  outcome.metrics.erase("rate");
  outcome.metrics["tokens"] = {1, {1}};
  auto const result = check_metrics(outcome, job_of_suite());
  expect_failed(result, "rate is missing");
  EXPECT_THAT(result.found, HasSubstr("tokens is not declared"));
}

TEST(CheckMetrics, OfTheNativeSuiteNeedOnlyLatency) {
  protocol::Outcome outcome;
  outcome.metrics["latency"] = {1, {1}};
  expect_passed(check_metrics(outcome, {}));
  outcome.metrics["tokens"] = {1, {1}};
  expect_failed(check_metrics(outcome, {}), "tokens is not declared");
}

TEST(CheckValues, RejectsWhatIsNotFiniteNegativeOrZero) {
  expect_passed(check_values(good_outcome(), job_of_suite(), declared));
  auto const with = [](std::string const& name, double value) {
    auto outcome = good_outcome();
    outcome.metrics[name] = {value, {value}};
    return check_values(outcome, job_of_suite(), declared);
  };
  expect_failed(with("time", std::nan("")), "time: nan: it is not finite");
  expect_failed(with("steps", -1), "steps: -1: it is negative");
  expect_failed(with("rate", 0), "rate: 0: it is not above 0");
  expect_passed(with("steps", 0));
}

TEST(CheckValues, AsksTheRunner) {
  auto outcome = good_outcome();
  outcome.seconds = -1;
  expect_failed(check_values(outcome, job_of_suite(), declared), "the runner does not accept -1");
}

TEST(CheckUnits, RejectsATimeThatIsLongerThanTheJob) {
  expect_passed(check_units(good_outcome(), declared, 0.05));
  expect_failed(check_units(good_outcome(), declared, 0.01), "21 ms, in a job of 0.01 s");
}

TEST(CheckUnits, RejectsHalfOfACount) {
  auto outcome = good_outcome();
  outcome.metrics["steps"] = {7.5, {7.5}};
  expect_failed(check_units(outcome, declared, 1), "steps: 7.5, which is not a whole number");
}

TEST(CheckRuns, FollowTheNumberThatWasAskedFor) {
  expect_passed(check_runs({{2, good_outcome()}}, declared));
  expect_failed(check_runs({{2, good_outcome()}, {3, good_outcome()}}, declared),
                "2 samples, asked for 3 runs");
  expect_failed(check_runs({{1, good_outcome()}}, declared), "rate: 2 samples, allowed 1");
  auto outcome = good_outcome();
  outcome.metrics["steps"].samples = {7, 7};
  expect_failed(check_runs({{2, outcome}}, declared), "steps: 2 samples, allowed 1");
}

TEST(CheckRepeat, WantsASecondResult) {
  expect_passed(check_repeat(reply_with(good_outcome())));
  expect_failed(check_repeat(reply_with_failure("failed", "already loaded")), "already loaded");
}

TEST(CheckExact, ComparesAllProcesses) {
  auto other = good_outcome();
  expect_passed(check_exact({good_outcome(), other}, declared));
  other.metrics["steps"].value = 8;
  expect_failed(check_exact({good_outcome(), other}, declared), "steps: 7 and 8");
  EXPECT_EQ(check_exact({good_outcome()}, {}).state, State::skipped);
}

TEST(CheckUnknown, WantsUnsupportedWithAReason) {
  expect_passed(
      check_unknown({{"model", reply_with_failure("unsupported", "no such model")}}, false));
  expect_failed(check_unknown({{"model", reply_with_failure("unsupported", "")}}, false),
                "without a reason");
  expect_failed(check_unknown({{"test", reply_with(good_outcome())}}, false), "it was measured");
  Reply crashed;
  crashed.problem = "it ended: exit status 1";
  auto const result = check_unknown({{"model", crashed}}, true);
  expect_failed(result, "unknown model: it ended");
  EXPECT_THAT(result.mend, HasSubstr("125"));
}

TEST(CheckBadLine, WantsTheErrorProtocol) {
  expect_passed(check_bad_line(heard(protocol::Failure{"", "protocol", "not JSON"})));
  expect_failed(check_bad_line(heard(protocol::Failure{"", "failed", "?"})), "answered with");
  expect_failed(check_bad_line(Heard{}), "no answer");
}

TurnLog good_turns() {
  TurnLog log;
  log.runs = 2;
  log.waits = 4;
  log.cpu_shares = {0, 0.02};
  log.reply = reply_with(good_outcome());
  return log;
}

TEST(CheckTurns, WantsOneForEachRun) {
  expect_passed(check_turns(good_turns()));
  auto log = good_turns();
  log.waits = 1;
  expect_failed(check_turns(log), "1 turns for 2 runs");
  log = good_turns();
  log.sent_while_waiting = "progress";
  expect_failed(check_turns(log), "it sent a progress while it waited");
  log = good_turns();
  log.reply = reply_with_failure("failed", "out of memory");
  expect_failed(check_turns(log), "out of memory");
}

TEST(CheckRest, AllowsNoWorkWhileItWaits) {
  expect_passed(check_rest(good_turns()));
  auto log = good_turns();
  log.cpu_shares = {0, 0.97};
  expect_failed(check_rest(log), "97% of a CPU");
  log.cpu_shares.clear();
  EXPECT_EQ(check_rest(log).state, State::skipped);
}

TEST(CheckEnd, WantsAnEndWithTheInput) {
  expect_passed(check_end(0.1, 0.2));
  expect_failed(check_end(std::nullopt, 0.2), "it runs 2 s after the end of its input");
  expect_failed(check_end(0.1, std::nullopt), "while it waited for its turn");
}

TEST(CheckKill, CountsProcessesThatAreLeft) {
  expect_passed(check_kill(0));
  expect_failed(check_kill(2), "2 processes are left");
}

TEST(CheckSandbox, DistinguishesAMissingNetwork) {
  auto const failure = reply_with_failure("failed", "Connection refused");
  expect_passed(check_sandbox(reply_with(good_outcome()), std::nullopt));
  expect_failed(check_sandbox(failure, reply_with(good_outcome())), "only with a network");
  EXPECT_EQ(check_sandbox(failure, failure).state, State::skipped);
}

TEST(CheckSameBuild, RejectsAnyChange) {
  Comparison comparison;
  comparison.verdict = Verdict::unchanged;
  expect_passed(check_same_build({{"time", comparison}}));
  comparison.verdict = Verdict::inconclusive;
  auto const undecided = check_same_build({{"time", comparison}});
  expect_passed(undecided);
  EXPECT_THAT(undecided.found, HasSubstr("noise is too large"));
  comparison.verdict = Verdict::improvement;
  expect_failed(check_same_build({{"time", comparison}}), "two processes of one build");
}

TEST(CheckSlowdown, WantsOneNoisyMetricToReact) {
  auto slowed = good_outcome();
  slowed.metrics["time"].value = 80;
  auto const result = check_slowdown(good_outcome(), slowed, declared);
  expect_passed(result);
  EXPECT_THAT(result.found, Not(HasSubstr("rate")));
  expect_failed(check_slowdown(good_outcome(), good_outcome(), declared), "the same rate, time");
}

TEST(CheckSlowdown, FindsAWrongDirection) {
  auto slowed = good_outcome();
  slowed.metrics["rate"].value = 12;
  slowed.metrics["time"].value = 80;
  expect_passed(check_slowdown(good_outcome(), slowed, declared));
  auto wrong = declared;
  wrong["rate"].is_higher_better = false;
  auto const result = check_slowdown(good_outcome(), slowed, wrong);
  expect_failed(result, "rate gets better when the process is slowed: 50 to 12");
  EXPECT_THAT(result.mend, HasSubstr("\"better\": \"higher\""));
}

TEST(DeclaredBy, HasTheJobsMetricsOrTheNativeOnes) {
  config::SuiteOptions suite;
  suite.metrics["time"].unit = "ms";
  suite.metrics["rate"].better = config::Better::higher;
  protocol::Job job;
  job.metrics = {"rate"};
  auto const chosen = declared_by(suite, job);
  EXPECT_EQ(chosen.size(), 1U);
  EXPECT_TRUE(chosen.at("rate").is_higher_better);
  EXPECT_TRUE(declared_by(suite, {}).contains("latency"));
}

TEST(TableOfTrial, HasALineForEachCheckAndOneToMendIt) {
  std::vector<CheckResult> const results{{"starts", State::passed, "hello after 0.1 s"},
                                         {"rests", State::failed, "97% of a CPU", "stop threads"},
                                         skipped("exact", "no exact metrics")};
  EXPECT_FALSE(have_passed(results));
  EXPECT_EQ(cli::table_of(results),
            "starts      ok       hello after 0.1 s\n"
            "rests       failed   97% of a CPU\n"
            "                     to mend it: stop threads\n"
            "exact       skipped  no exact metrics\n");
  auto const document = cli::json_of(results, "test_run[tiny-cpu-plain]", "/builds/a");
  EXPECT_EQ(document.at("has_passed"), false);
  EXPECT_EQ(document.at("checks").at(1).at("mend"), "stop threads");
  EXPECT_FALSE(document.at("checks").at(0).contains("mend"));
}

}  // namespace
}  // namespace torchwatch::suite_try
