#include "runner/loop.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "processes.h"
#include "run_runner.h"
#include "workplace.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runner/protocol.h"

namespace torchwatch::runner {

namespace {

namespace fs = std::filesystem;
using protocol::Failure;
using protocol::Hello;
using protocol::Outcome;
using protocol::Progress;
using testing::HasSubstr;
using testing::StartsWith;

/// A runner that has sent its hello.
class RunnerTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(std::get<Hello>(runner_.receive()).role, "runner"); }

  /// Starts a job that never ends, and returns its worker.
  pid_t busy_worker() {
    runner_.give(workplace_.job("hang"));
    EXPECT_TRUE(std::holds_alternative<Progress>(runner_.receive()));
    auto const children = tests::children_of(runner_.process().pid());
    EXPECT_EQ(children.size(), 1U);
    return children.empty() ? -1 : children.front();
  }

  tests::Workplace workplace_;
  tests::RunnerProcess runner_{workplace_};
};

TEST(RunnerHello, DescribesTheRunner) {
  tests::Workplace workplace;
  tests::RunnerProcess runner{workplace};
  auto const hello = std::get<Hello>(runner.receive());

  EXPECT_EQ(hello.protocol, protocol::version);
  EXPECT_EQ(hello.role, "runner");
  EXPECT_EQ(hello.fingerprint.at("pid"), runner.process().pid());
  EXPECT_NE(hello.fingerprint.at("host"), "");
}

TEST(RunnerLocks, MakeARoundWaitForAnother) {
  tests::Workplace workplace;
  std::map<std::string, std::string> const locks{{"TEST_LOCKS", workplace.prefix()}};
  tests::RunnerProcess gpus{workplace, {TEST_RUNNER}, locks};
  tests::RunnerProcess cpus{workplace, {TEST_RUNNER}, locks};
  gpus.receive();
  cpus.receive();
  workplace.write_program("hang",
                          R"(echo '{"type":"hello","role":"worker"}'
        echo '{"type":"progress","id":"hang","phase":"build"}'
        sleep 100)");
  auto on_gpu = workplace.job("hang");
  on_gpu.benchmark = "test_eval[hang-cuda-eager]";
  on_gpu.build.worker = workplace.prefix() + "/hang";
  gpus.give(on_gpu);
  gpus.receive();  // it has begun
  cpus.give(workplace.job("ok"));

  auto const sign = std::get<Progress>(cpus.receive());
  EXPECT_EQ(sign.id, "ok");
  EXPECT_EQ(sign.phase, protocol::waiting);
  gpus.process().kill_group();
  EXPECT_EQ(std::get<Outcome>(cpus.hear_answer()).id, "ok");
}

/// A runner with a hook that records its calls. "before" can be made to fail.
class RunnerHooks : public testing::Test {
 protected:
  explicit RunnerHooks() {
    workplace_.write_program(
        "hook",
        "echo $1 >> " + seen_ + "; test $1 = after -o ! -e " + workplace_.prefix() + "/broken");
    runner_.receive();
  }

  std::string seen() const {
    std::ifstream file{seen_};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  tests::Workplace workplace_;
  std::string const seen_ = workplace_.prefix() + "/seen";
  tests::RunnerProcess runner_{
      workplace_, {TEST_RUNNER}, {{"TEST_HOOK", workplace_.prefix() + "/hook"}}};
};

TEST_F(RunnerHooks, AreRunAroundARound) {
  runner_.give(workplace_.job("ok"));
  EXPECT_EQ(std::get<Outcome>(runner_.hear_answer()).id, "ok");
  EXPECT_EQ(seen(), "before\nafter\n");
}

TEST_F(RunnerHooks, FailARoundWhenBeforeFails) {
  workplace_.write_program("broken", "");
  runner_.give(workplace_.job("ok"));
  auto const failure = std::get<Failure>(runner_.hear_answer());
  EXPECT_EQ(failure.code, "device");
  EXPECT_EQ(failure.text, "test_eval[ok-cpu-eager]: hook sh: exit status 1:");
  EXPECT_EQ(seen(), "before\nafter\n") << "the failed hook may have done half of its work";
}

TEST_F(RunnerHooks, RunAfterACancelledRound) {
  runner_.give(workplace_.job("hang"));
  runner_.receive();
  runner_.process().close_stdin();
  EXPECT_EQ(runner_.end(), "exit status 0");
  EXPECT_EQ(seen(), "before\nafter\n");
}

TEST(RunnerStart, RemovesDirectoriesOfAKilledRunner) {
  tests::Workplace workplace;
  auto const left = fs::path{workplace.prefix()} / "torchwatch-scratch-abcdef";
  fs::create_directories(left / "half");

  tests::RunnerProcess runner{workplace};
  ASSERT_TRUE(std::holds_alternative<Hello>(runner.receive()));

  EXPECT_FALSE(fs::exists(left));
}

TEST(RunnerStart, EndsSandboxesOfAKilledRunner) {
  auto const ours = tests::our_identity();
  auto const dead = std::to_string(::getpid()) + "-1" + ours.substr(ours.rfind('-'));
  boost::asio::io_context loop{1};
  process::Command command;
  command.argv = tests::pretended_sandbox(dead);
  auto orphan = process::ChildProcess::start(loop.get_executor(), std::move(command)).value();
  ASSERT_TRUE(tests::run(loop, orphan.read_line()));

  tests::Workplace const workplace;
  tests::RunnerProcess runner{workplace};
  ASSERT_TRUE(std::holds_alternative<Hello>(runner.receive()));

  EXPECT_EQ(tests::run(loop, orphan.wait()).signal, SIGKILL);
}

TEST(RunnerSignals, KeepsExitStatusesThatItsParentIgnored) {
  tests::Workplace workplace;
  tests::RunnerProcess runner{workplace, {"sh", "-c", "trap '' CHLD; exec " TEST_RUNNER}};
  ASSERT_TRUE(std::holds_alternative<Hello>(runner.receive()));

  runner.give(workplace.job("exit"));

  EXPECT_THAT(std::get<Failure>(runner.hear_answer()).text, HasSubstr("exit status 3"));
}

TEST_F(RunnerTest, AnswersJobsInOrder) {
  runner_.give(workplace_.job("ok"));
  runner_.give(workplace_.job("unsupported"));
  runner_.give(workplace_.job("ok"));

  EXPECT_EQ(std::get<Outcome>(runner_.hear_answer()).id, "ok");
  EXPECT_EQ(std::get<Failure>(runner_.hear_answer()).id, "unsupported");
  EXPECT_EQ(std::get<Outcome>(runner_.hear_answer()).id, "ok");
}

TEST_F(RunnerTest, RejectsOtherLinesAndContinues) {
  runner_.say("make me a sandwich");
  auto const nonsense = std::get<Failure>(runner_.receive());
  EXPECT_EQ(nonsense.id, "");
  EXPECT_EQ(nonsense.code, "protocol");
  EXPECT_THAT(nonsense.text, StartsWith("runner was sent \"make me a sandwich\": not a message"));

  runner_.say(protocol::encode(Progress{}));
  EXPECT_THAT(std::get<Failure>(runner_.receive()).text, HasSubstr("it takes only jobs"));

  runner_.give(workplace_.job("ok"));
  EXPECT_TRUE(std::holds_alternative<Outcome>(runner_.hear_answer()));
}

TEST_F(RunnerTest, EndsWithItsInputAndKillsTheWorker) {
  auto const worker = busy_worker();

  runner_.process().close_stdin();

  EXPECT_EQ(runner_.end(), "exit status 0");
  EXPECT_TRUE(tests::has_ended(worker));
}

TEST_F(RunnerTest, EndsOnASignalAndKillsTheWorker) {
  auto const worker = busy_worker();

  runner_.process().kill_group(SIGTERM);

  EXPECT_EQ(runner_.end(), "exit status 0");
  EXPECT_TRUE(tests::has_ended(worker));
}

/// A scheduler signals all processes of a job, in any order.
TEST_F(RunnerTest, SignalledAfterItsWorker_ReportsNoFailure) {
  auto const worker = busy_worker();
  ASSERT_EQ(::kill(worker, SIGTERM), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});

  ::kill(runner_.process().pid(), SIGTERM);

  EXPECT_FALSE(runner_.hear_last_answer());
  EXPECT_EQ(runner_.end(), "exit status 0");
}

TEST_F(RunnerTest, LeavesNoWorkerWhenKilled) {
  auto const worker = busy_worker();

  runner_.process().kill_group(SIGKILL);

  EXPECT_EQ(runner_.end(), "killed by SIGKILL (Killed)");
  EXPECT_TRUE(tests::has_ended(worker));
}

TEST_F(RunnerTest, ForgetsProgressThatIsReadTooSlowly) {
  runner_.give(workplace_.job("flood"));
  auto message = runner_.receive();
  ASSERT_TRUE(tests::have_children_ended(runner_.process().pid()));

  int received = 0;
  for (; std::holds_alternative<Progress>(message); message = runner_.receive())
    ++received;
  EXPECT_EQ(std::get<Outcome>(message).id, "flood");
  EXPECT_LT(received, 400) << "of 1000";
}

struct Misbehaviour {
  std::string behaviour;
  std::string code;
  std::string text;  ///< part of the runner's error
};

/// Prints the name of a misbehaviour for gtest.
std::ostream& operator<<(std::ostream& stream, Misbehaviour const& misbehaviour) {
  return stream << misbehaviour.behaviour;
}

class MisbehavingWorkerTest : public RunnerTest,
                              public testing::WithParamInterface<Misbehaviour> {};

TEST_P(MisbehavingWorkerTest, CostsItsOwnJobOnly) {
  auto const& [behaviour, code, text] = GetParam();
  auto job = workplace_.job(behaviour);
  if (behaviour == "hang") job.limits.timeout_s = 1;
  runner_.give(job);
  runner_.give(workplace_.job("ok"));

  auto const answer = runner_.hear_answer();
  ASSERT_TRUE(std::holds_alternative<Failure>(answer)) << protocol::encode(answer);
  auto const& failure = std::get<Failure>(answer);
  EXPECT_EQ(failure.id, behaviour);
  EXPECT_EQ(failure.code, code);
  EXPECT_THAT(failure.text, StartsWith(job.benchmark + " on " + workplace_.prefix() + ": "));
  EXPECT_THAT(failure.text, HasSubstr(text));

  EXPECT_EQ(std::get<Outcome>(runner_.hear_answer()).id, "ok");
}

INSTANTIATE_TEST_SUITE_P(
    Every,
    MisbehavingWorkerTest,
    testing::Values(
        Misbehaviour{"crash", "crashed", "during latency (0 of 10): killed by SIGSEGV"},
        Misbehaviour{"exit", "crashed", "exit status 3; it printed last: out of luck | really"},
        Misbehaviour{"silent_exit", "crashed", "exit status 0; it printed no reason"},
        Misbehaviour{"hang", "timeout", "no answer after 1 s"},
        Misbehaviour{"hog", "memory", "allowed are 256 MiB"},
        Misbehaviour{"fork_hog", "memory", "worker and its children hold"},
        Misbehaviour{"garbage", "protocol", "\"Downloading weights... 100%\""},
        Misbehaviour{"binary", "protocol", R"("\x00\xff\x1b[31m\x07")"},
        Misbehaviour{"huge_line", "protocol", "longer than 8388608 bytes"},
        Misbehaviour{"wrong_id", "protocol", "named job \"another\"; it was given \"wrong_id\""},
        Misbehaviour{"two_answers", "protocol", "went on after its answer"},
        Misbehaviour{"deep", "protocol", "nested deeper than 16 levels"},
        Misbehaviour{"long_text", "protocol", "a text of 5000 bytes, allowed are 4096"},
        Misbehaviour{"no_metrics", "protocol", "answered with no latency"},
        Misbehaviour{"negative", "protocol", "answered with a latency of -1"},
        Misbehaviour{"other", "protocol", "a result for \"test_eval[bert-cpu-eager]\""},
        Misbehaviour{"many", "protocol", "100000 samples of latency, allowed are 20"},
        Misbehaviour{"mute", "protocol", "closed its output during latency (0 of 10) and went on"},
        Misbehaviour{"unsupported", "unsupported", "the script says so"}),
    [](auto const& given) { return given.param.behaviour; });

}  // namespace

}  // namespace torchwatch::runner
