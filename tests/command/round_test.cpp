#include "runner/round.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "processes.h"
#include "run.h"
#include "workplace.h"
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/turn_order.h"
#include "tests/temporary_folder.h"

// torchwatch-command as the worker of real rounds.
namespace torchwatch::command {
namespace {

using protocol::Failure;
using protocol::Job;
using protocol::Message;
using protocol::Outcome;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

class CommandTest : public testing::Test {
 protected:
  /// Returns a job that runs a shell script and wants three samples of tokens_per_s.
  Job job(std::string const& script) const {
    auto job = workplace_.job("ok");
    job.benchmark = "test_run[nanogpt-cpu-mine]";
    job.build.worker = TORCHWATCH_COMMAND;
    job.metrics = {"tokens_per_s"};
    job.command = {"/bin/sh", "-c", script};
    job.measure.runs = 3;
    return job;
  }

  std::vector<Message> answers_to(protocol::Round round) {
    runner::WorkerEnvironment surroundings;
    surroundings.isolation = isolation_;
    runner::ProgressSink keep = [this](protocol::Progress const& progress) {
      phases_ += progress.phase + std::to_string(progress.done) + ' ';
    };
    return tests::run(loop_, runner::run_round(std::move(round), surroundings, std::move(keep)));
  }

  Message answer_to(Job job) { return answers_to({{std::move(job)}}).front(); }

  /// Runs a job that must succeed. Returns an outcome without metrics when it fails.
  Outcome outcome_of(Job job) {
    auto message = answer_to(std::move(job));
    auto* const outcome = std::get_if<Outcome>(&message);
    EXPECT_NE(outcome, nullptr) << protocol::encode(message);
    return outcome == nullptr ? Outcome{} : std::move(*outcome);
  }

  Failure failure_of(Job job) {
    auto const message = answer_to(std::move(job));
    auto const* const failure = std::get_if<Failure>(&message);
    return failure == nullptr ? Failure{"", "no failure", protocol::encode(message)} : *failure;
  }

  std::string in_prefix(std::string const& name) const { return workplace_.prefix() + '/' + name; }

  /// Returns the process whose number is in a file of the prefix.
  pid_t process_in(std::string const& name) const {
    return std::stoi(tests::text_of(in_prefix(name)));
  }

  tests::Workplace workplace_;
  process::Isolation isolation_ = process::Isolation::none;
  boost::asio::io_context loop_{1};
  std::string phases_;
};

/// Jobs with and without a sandbox.
class CommandJob : public CommandTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) isolation_ = tests::best_isolation(loop_);
  }
};

INSTANTIATE_TEST_SUITE_P(Kept, CommandJob, testing::Bool(), [](auto const& test) {
  return test.param ? "InASandbox" : "WithoutSandbox";
});

TEST_P(CommandJob, StartsTheCommandForEachRun) {
  auto const outcome =
      outcome_of(job("echo x >> starts; echo \"{\\\"tokens_per_s\\\": $(wc -l < starts)}\""));

  EXPECT_EQ(outcome.metrics.at("tokens_per_s").samples, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(outcome.metrics.at("tokens_per_s").value, 2);
  EXPECT_EQ(phases_, "run0 run1 run2 ");
  EXPECT_GT(outcome.accounts.at("rss_peak_bytes"), 0);
}

TEST_P(CommandJob, StartsTheCommandOnceWhenItPrintsAllRuns) {
  auto const outcome = outcome_of(job(
      "echo x >> starts; for i in 1 2 3 4; do echo \"{\\\"tokens_per_s\\\": $(wc -l < starts)}\"; "
      "done"));

  EXPECT_THAT(outcome.metrics.at("tokens_per_s").samples, AllOf(SizeIs(3), Each(1)));
}

TEST_P(CommandJob, AsksACommandThatWaitsForEachRun) {
  auto waiting =
      job("n=0; while read line; do n=$((n + 1)); echo ready; "
          "echo \"{\\\"tokens_per_s\\\": $n}\"; done");
  waiting.waits = true;

  EXPECT_EQ(outcome_of(std::move(waiting)).metrics.at("tokens_per_s").samples,
            (std::vector<double>{1, 2, 3}));
}

TEST_P(CommandJob, ReportsOneValueOfAnExactMetric) {
  auto exact = job("echo '{\"tokens_per_s\": 1, \"kernels\": 14}'");
  exact.metrics = {"tokens_per_s", "kernels"};
  exact.exact = {"kernels"};

  EXPECT_THAT(outcome_of(std::move(exact)).metrics.at("kernels").samples, SizeIs(1));
}

TEST_P(CommandJob, ReadsBenchersFormat) {
  auto const outcome = outcome_of(
      job("echo '{\"decode\": {\"tokens_per_s\": {\"value\": 9, \"upper_value\": 10}}}'"));

  EXPECT_EQ(outcome.metrics.at("tokens_per_s").value, 9);
}

TEST_P(CommandJob, GetsTheBuildAndTheJobInVariables) {
  auto described =
      job("cd /; cat \"$TORCHWATCH_PREFIX/script.json\" > /dev/null || exit 9; echo "
          "\"<$TORCHWATCH_MODEL $TORCHWATCH_TEST $TORCHWATCH_DEVICE $TORCHWATCH_BACKEND "
          "$TORCHWATCH_THREADS $TORCHWATCH_SEED>\" >&2; exit 1");
  described.measure.seed = 7;

  EXPECT_THAT(failure_of(std::move(described)).text,
              HasSubstr("exit status 1: <nanogpt run cpu mine 1 7>"));
}

TEST_P(CommandJob, FindsThePackageTorchOfAPythonBuild) {
  auto python = job("");
  python.command = {"sh", "-c", "cat \"${PYTHONPATH%%:*}/torch/__init__.py\" >&2; exit 1"};
  std::filesystem::create_directories(in_prefix("torch"));
  std::filesystem::create_directories(in_prefix("torch-2.14.0.dist-info"));
  std::ofstream{in_prefix("torch/__init__.py")} << "the package torch\n";
  python.build.prefix = in_prefix("torch");

  EXPECT_THAT(failure_of(std::move(python)).text, HasSubstr("exit status 1: the package torch"));
}

TEST_P(CommandJob, GetsItsMemoryLimit) {
  // tail keeps a line without end in memory, and nothing reads its output.
  auto const hungry = job("head -c 400000000 /dev/zero | tail | sleep 10");

  EXPECT_EQ(failure_of(hungry).code, "memory");
}

/// A command that fails, and a part of the message.
struct Bad {
  std::string script;
  std::string message;
};

void PrintTo(Bad const& bad, std::ostream* stream) {
  *stream << bad.script;
}

class BadCommand : public CommandTest, public testing::WithParamInterface<Bad> {};

TEST_P(BadCommand, FailsWithOneClearMessage) {
  auto const failure = failure_of(job(GetParam().script));

  EXPECT_EQ(failure.code, "failed");
  EXPECT_THAT(failure.text, HasSubstr(GetParam().message));
}

std::vector<Bad> const bad_commands{
    {"echo loading >&2; echo 'RuntimeError: no kernel' >&2; exit 3",
     "exit status 3: RuntimeError: no kernel"},
    {"exit 1", "exit status 1; it printed no reason"},
    {"kill -SEGV $$", "killed by SIGSEGV"},
    {"nowhere-to-be-found", "exit status 127: "},
    {"true", "it printed no run; allowed is one object a line"},
    {"echo 12.5",
     "it printed no run; allowed is one object a line, such as {\"latency\": 12.5}; it "
     "printed last: 12.5"},
    {"yes", "it printed more than 8 MiB on standard output in one turn"},
    {"yes | tr -d '\\n'", "it printed more than 8 MiB on standard output in one turn"},
    {"echo ok; echo '{\"tokens_per_s\": }'",
     "line 2: found \"{\"tokens_per_s\": }\", which is not"},
    {"echo '{\"tokens_per_s\": NaN}'", "JSON has no NaN and no Infinity"},
    {"echo '{\"tokens_per_s\": \"fast\"}'", "is \"fast\", of type string; allowed is a number"},
    {"echo '{\"tokens_per_s\": -1}'", "metric tokens_per_s is -1; allowed is more than 0"},
    {"echo '{\"tokens_per_s\": 1, \"ttft\": 2}'", "\"ttft\" is not declared"},
    {"echo '{}'", "metric tokens_per_s is missing"},
};

INSTANTIATE_TEST_SUITE_P(Command, BadCommand, testing::ValuesIn(bad_commands));

TEST_F(CommandTest, ThatDoesNotExistIsNamed) {
  auto missing = job("");
  missing.command = {"/nowhere/bench", "--fast"};
  auto const failure = failure_of(missing);
  EXPECT_EQ(failure.code, "failed");
  EXPECT_THAT(failure.text,
              HasSubstr("/nowhere/bench --fast: start /nowhere/bench: No such file or directory"));

  missing.command = {"./bench.py"};
  EXPECT_THAT(failure_of(missing).text, HasSubstr("so give an absolute path"));
}

TEST_F(CommandTest, ThatExitsWith125IsUnsupported) {
  auto const failure = failure_of(job("echo 'needs a GPU' >&2; exit 125"));
  EXPECT_EQ(failure.code, "unsupported");
  EXPECT_THAT(failure.text, HasSubstr("exit status 125: needs a GPU"));
}

TEST_F(CommandTest, WhoseExactMetricVariesNamesBothValues) {
  auto varying = job("echo x >> starts; echo \"{\\\"kernels\\\": $(wc -l < starts)}\"");
  varying.metrics = varying.exact = {"kernels"};
  EXPECT_THAT(failure_of(std::move(varying)).text,
              HasSubstr("kernels is exact, but has two values: 1.0 and 2.0"));
}

TEST_F(CommandTest, ThatWaitsMustPrintARunAfterEachLine) {
  auto waiting = job("read line; echo '{\"tokens_per_s\": 1}'; read line; exit 0");
  waiting.waits = true;
  EXPECT_THAT(failure_of(waiting).text, HasSubstr("it ended after 1 of 3 runs"));

  // Both in one write, so that neither comes later.
  waiting.command.back() =
      R"(read line; printf '{"tokens_per_s": 1}\n{"tokens_per_s": 1}\n'; sleep 100)";
  EXPECT_THAT(failure_of(waiting).text, HasSubstr("printed a run before it was asked for"));

  waiting.command.back() = "read line; echo '{\"tokens_per_s\": }'; sleep 100";
  EXPECT_THAT(failure_of(waiting).text, HasSubstr("which is not JSON"));
}

TEST_F(CommandTest, ThatWaitsIsKilledWhenItDoesNotEndWithItsInput) {
  auto waiting = job("while read line; do echo '{\"tokens_per_s\": 1}'; done; echo $$ > " +
                     in_prefix("pid") + "; exec sleep 100");
  waiting.waits = true;

  EXPECT_THAT(outcome_of(std::move(waiting)).metrics.at("tokens_per_s").samples, SizeIs(3));
  EXPECT_TRUE(tests::has_ended(process_in("pid")));
}

TEST_F(CommandTest, ThatCannotWaitHasAnEmptyInput) {
  EXPECT_THAT(outcome_of(job("cat; echo '{\"tokens_per_s\": 1}'")).metrics, SizeIs(1));
}

TEST_F(CommandTest, LeavesNoProcessBehind) {
  auto const daemon =
      job("setsid sleep 100 & echo $! > " + in_prefix("pid") + "; echo '{\"tokens_per_s\": 1}'");
  outcome_of(daemon);
  EXPECT_TRUE(tests::has_ended(process_in("pid")));
}

TEST_F(CommandTest, EndsWithAllItsProcessesAtTheTimeLimit) {
  auto slow = job("sleep 100 & echo $! > " + in_prefix("child") + "; echo $$ > " +
                  in_prefix("shell") + "; wait");
  slow.limits.timeout_s = 1;

  auto const failure = failure_of(std::move(slow));

  EXPECT_EQ(failure.code, "timeout");
  EXPECT_THAT(failure.text, HasSubstr("during run (0 of 3)"));
  EXPECT_TRUE(tests::has_ended(process_in("shell")));
  EXPECT_TRUE(tests::has_ended(process_in("child")));
}

/// Two processes of a round, each a job of its own.
class CommandRound : public CommandTest {
 protected:
  /// Runs both jobs in a round. They must succeed.
  void run_both(Job first, Job second, std::uint32_t seed) {
    first.id = "A";
    second.id = "B";
    for (auto const& answer : answers_to({{std::move(first), std::move(second)}, seed}))
      EXPECT_TRUE(std::holds_alternative<Outcome>(answer)) << protocol::encode(answer);
  }

  /// Returns a script that fails when another process of the round is in it, too.
  std::string alone() const {
    auto const lock = in_prefix("lock");
    return "mkdir " + lock + " || exit 9; sleep 0.05; rmdir " + lock +
           "; echo '{\"tokens_per_s\": 1}'";
  }

  /// Returns a job that waits, and adds `name` to the file `order` in each run.
  Job noting(std::string const& name) const {
    auto waiting = job("while read line; do echo " + name + " >> " + in_prefix("order") +
                       "; echo '{\"tokens_per_s\": 1}'; done");
    waiting.waits = true;
    waiting.measure.runs = 12;
    return waiting;
  }
};

TEST_F(CommandRound, NeverRunsBothAtOnce) {
  auto const cannot_wait = job(alone());
  auto waiting = job("while read line; do " + alone() + "; done");
  waiting.waits = true;
  for (std::uint32_t const seed : {1U, 2U, 3U}) {
    run_both(cannot_wait, cannot_wait, seed);
    run_both(waiting, waiting, seed);
    run_both(waiting, cannot_wait, seed);
  }
}

TEST_F(CommandRound, InterleavesCommandsThatWaitInTheOrderOfTheSeed) {
  constexpr std::uint32_t seed = 5;
  run_both(noting("A"), noting("B"), seed);

  std::string wanted;
  runner::TurnOrder orders{seed, runner::Drawn::passes, 2};
  for (int pass = 0; pass < 12; ++pass)
    for (auto const place : orders.next())
      wanted += std::string{"AB"[place]} + '\n';
  EXPECT_EQ(tests::text_of(in_prefix("order")), wanted);
}

TEST_F(CommandRound, GoesOnWhenOneFails) {
  auto failing = job("exit 1");
  auto const answers = answers_to({{std::move(failing), job(alone())}, 1});
  EXPECT_TRUE(std::holds_alternative<Failure>(answers.at(0)));
  EXPECT_TRUE(std::holds_alternative<Outcome>(answers.at(1))) << protocol::encode(answers.at(1));
}

}  // namespace
}  // namespace torchwatch::command
