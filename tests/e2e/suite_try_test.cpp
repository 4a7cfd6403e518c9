#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/e2e/expect.h"
#include "tests/e2e/world.h"
#include "tests/listening_port.h"

// `torchwatch suite try` on workers and commands, each with one planted fault.
namespace torchwatch::e2e {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// A fault that is planted in the worker, and how it is found.
struct Fault {
  std::string name;   ///< FAULT of the worker; "" for none
  std::string check;  ///< that fails
  std::string found;  ///< a part of the text
  bool is_isolated = true;
};

/// Prints the name of a fault for gtest.
std::ostream& operator<<(std::ostream& stream, Fault const& fault) {
  return stream << fault.name;
}

class SuiteTry : public testing::Test {
 public:
  static void SetUpTestSuite() { world_ = std::make_unique<World>(quick_world()); }

  static void TearDownTestSuite() { world_.reset(); }

 protected:
  /// The suite `plain` of the worker.
  json worker_suite(std::string const& fault) const {
    json suite{{"name", "plain"},
               {"worker", BROKEN_WORKER},
               {"backends", {"plain"}},
               {"models", {"tiny"}},
               {"tests", {"run"}},
               {"environment", {{"FAULT", fault}, {"PORT", port_.text()}}}};
    suite["metrics"] = {{"time", {{"unit", "ms"}}},
                        {"rate", {{"unit", "1/s"}, {"better", "higher"}}},
                        {"steps", {{"unit", "1"}, {"kind", "exact"}}}};
    return suite;
  }

  /// The suite `plain` of the command.
  static json command_suite(std::string const& fault) {
    json suite{{"name", "plain"},
               {"command", {BROKEN_COMMAND, "{model}"}},
               {"waits", true},
               {"models", {"tiny"}},
               {"environment", {{"FAULT", fault}}}};
    suite["metrics"] = {{"time", {{"unit", "ms"}}},
                        {"rate", {{"unit", "1/s"}, {"better", "higher"}}}};
    return suite;
  }

  static Finished try_suite(json const& suite, bool is_isolated = true) {
    world_->configure({{"suites", json::array({suite})}, {"measure", {{"timeout_s", 30}}}});
    std::vector<std::string> arguments{"suite", "try", "plain", "--json"};
    if (!is_isolated) arguments.emplace_back("--no-isolation");
    return world_->run(arguments);
  }

  /// Returns "CHECK: FOUND" of each check that failed.
  static std::vector<std::string> failures_in(Finished const& finished) {
    std::vector<std::string> failures;
    auto const report = json::parse(finished.out);
    for (auto const& check : report.at("checks"))
      if (check.at("state") == "failed") {
        EXPECT_NE(check.at("mend"), "") << check;
        failures.push_back(check.at("check").get<std::string>() + ": " +
                           check.at("found").get<std::string>());
      }
    return failures;
  }

  static inline std::unique_ptr<World> world_;
  tests::ListeningPort port_;
};

class FaultyWorker : public SuiteTry, public testing::WithParamInterface<Fault> {};

TEST_P(FaultyWorker, IsFoundWithAWayToMendIt) {
  auto const& fault = GetParam();
  auto const tried = try_suite(worker_suite(fault.name), fault.is_isolated);
  EXPECT_EQ(tried.status, 1) << tried.out << tried.err;
  EXPECT_THAT(failures_in(tried), Contains(AllOf(HasSubstr(fault.check), HasSubstr(fault.found))))
      << tried.out;
  expect_no_process_left(*world_);
}

INSTANTIATE_TEST_SUITE_P(
    Every,
    FaultyWorker,
    testing::Values(Fault{"old_protocol", "starts: ", "it uses protocol 4"},
                    Fault{"writes_to_build", "answers: ", "Read-only file system"},
                    Fault{"network", "sandbox: ", "it works only with a network"},
                    Fault{"missing", "metrics: ", "rate is missing"},
                    Fault{"undeclared", "metrics: ", "tokens is not declared"},
                    Fault{"negative", "values: ", "time: -1: it is negative"},
                    Fault{"wrong_unit", "units: ", "time: "},
                    Fault{"fixed_runs", "runs: ", "3 samples, asked for 5 runs"},
                    Fault{"one_job", "repeats: ", "exit status 0"},
                    Fault{"bad_line", "bad line: ", "exit status 1"},
                    Fault{"crashes_on_unknown", "unknown: ", "unknown model: it ended"},
                    Fault{"chatter", "output: ", "Downloading weights"},
                    Fault{"no_turns", "turns: ", "0 turns for 5 runs"},
                    Fault{"talks_while_waiting", "turns: ", "it sent a progress while it waited"},
                    Fault{"busy", "rests: ", "% of a CPU while it waits"},
                    Fault{"stays", "ends: ", "after the end of its input"},
                    Fault{"leftover", "killed: ", "processes are left", false},
                    Fault{"random", "exact: ", "steps: "},
                    Fault{"constant", "slowdown: ", "reports the same rate, time"}),
    [](auto const& test) { return test.param.name; });

TEST_F(SuiteTry, FindsNothingInAGoodWorker) {
  auto const tried = try_suite(worker_suite(""));
  EXPECT_EQ(tried.status, 0) << tried.out << tried.err;
  EXPECT_THAT(failures_in(tried), IsEmpty());
  expect_no_process_left(*world_);
}

TEST_F(SuiteTry, FindsNothingInAGoodCommandThatWaits) {
  auto const tried = try_suite(command_suite(""));
  EXPECT_EQ(tried.status, 0) << tried.out << tried.err;
  EXPECT_THAT(failures_in(tried), IsEmpty());
}

TEST_F(SuiteTry, FindsACommandThatWorksWhileItWaits) {
  auto const failures = failures_in(try_suite(command_suite("busy")));
  EXPECT_THAT(failures, Contains(HasSubstr("rests: ")));
}

TEST_F(SuiteTry, FindsACommandThatFailsForAnUnknownModel) {
  auto const failures = failures_in(try_suite(command_suite("crashes_on_unknown")));
  EXPECT_THAT(failures, Contains(AllOf(HasSubstr("unknown: "), HasSubstr("exit status 1"))));
}

TEST_F(SuiteTry, FindsACommandThatPrintsNoDeclaredMetric) {
  auto const failures = failures_in(try_suite(command_suite("missing")));
  EXPECT_THAT(failures, Contains(AllOf(HasSubstr("answers: failed: "), HasSubstr("time"))));
}

TEST_F(SuiteTry, FindsAMetricThatIsDeclaredTheWrongWayRound) {
  auto suite = worker_suite("");
  suite["metrics"]["rate"]["better"] = "lower";
  auto const failures = failures_in(try_suite(suite));
  EXPECT_THAT(failures, Contains(HasSubstr("slowdown: rate gets better")));
}

TEST_F(SuiteTry, PrintsATableWithWaysToMend) {
  world_->configure({{"suites", json::array({worker_suite("old_protocol")})}});
  auto const tried = world_->run({"suite", "try", "plain"});
  EXPECT_EQ(tried.status, 1) << tried.err;
  EXPECT_THAT(tried.out, HasSubstr("test_run[tiny-cpu-plain] on the system's PyTorch\n"));
  EXPECT_THAT(tried.out, HasSubstr("starts      failed   it uses protocol 4\n"));
  EXPECT_THAT(tried.out, HasSubstr("to mend it: send \"protocol\": 5"));
}

TEST_F(SuiteTry, NamesTheSuitesThatThereAre) {
  auto const tried = world_->run({"suite", "try", "plian"});
  EXPECT_EQ(tried.status, 2);
  EXPECT_THAT(tried.err, HasSubstr("torchwatch suite try: suite: found \"plian\", allowed is"));
}

}  // namespace
}  // namespace torchwatch::e2e
