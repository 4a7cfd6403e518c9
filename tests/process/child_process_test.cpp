#include "runner/process/child_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "processes.h"
#include "run.h"
#include "workplace.h"
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/process/process_tree.h"
#include "runner/process/sandbox.h"
#include "runner/process/spawn.h"
#include "tests/no_descriptors_left.h"
#include "tests/temporary_folder.h"

namespace torchwatch::process {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using testing::HasSubstr;
using tests::run;

Command program(std::vector<std::string> argv) {
  Command command;
  command.argv = std::move(argv);
  return command;
}

Command shell(std::string script) {
  return program({"sh", "-c", std::move(script)});
}

class ChildProcessTest : public testing::Test {
 protected:
  ChildProcess start(Command command) {
    return ChildProcess::start(loop_.get_executor(), std::move(command)).value();
  }

  Error refusal_of(Command command) {
    auto started = ChildProcess::start(loop_.get_executor(), std::move(command));
    return started ? Error{} : started.error();
  }

  Result<std::string> read_line(ChildProcess& child) { return run(loop_, child.read_line()); }

  ExitStatus wait(ChildProcess& child) { return run(loop_, child.wait()); }

  /// Returns the first line that `script` prints.
  std::string first_line_of(Command command) {
    auto child = start(std::move(command));
    return read_line(child).value();
  }

  asio::io_context loop_{1};
};

TEST_F(ChildProcessTest, ExchangesLinesWithTheChild) {
  auto child = start(shell("while read line; do echo \"got $line\"; done"));

  ASSERT_TRUE(run(loop_, child.write_line("one")));
  ASSERT_TRUE(run(loop_, child.write_line("two")));

  EXPECT_EQ(read_line(child).value(), "got one");
  EXPECT_EQ(read_line(child).value(), "got two");
}

TEST_F(ChildProcessTest, EndsTheChildsInputWhenAsked) {
  auto child = start(program({"cat"}));
  ASSERT_TRUE(run(loop_, child.write_line("last")));

  child.close_stdin();

  EXPECT_EQ(read_line(child).value(), "last");
  EXPECT_EQ(read_line(child).error().code, ErrorCode::unavailable);
  EXPECT_EQ(describe(wait(child)), "exit status 0");
  EXPECT_EQ(run(loop_, child.write_line("more")).error().code, ErrorCode::unavailable);
}

TEST_F(ChildProcessTest, IgnoresAnUnfinishedLine) {
  auto child = start(shell("printf 'whole\\nhalf'"));

  EXPECT_EQ(read_line(child).value(), "whole");
  EXPECT_EQ(read_line(child).error().code, ErrorCode::unavailable);
}

TEST_F(ChildProcessTest, IsReadInBlocksAfterALine) {
  auto child = start(shell("printf 'line\\nmore\\nhalf'"));
  EXPECT_EQ(read_line(child).value(), "line");
  std::string rest;
  for (auto block = run(loop_, child.read_block()); block; block = run(loop_, child.read_block()))
    rest += *block;

  EXPECT_EQ(rest, "more\nhalf");
}

TEST_F(ChildProcessTest, RefusesALineThatIsTooLong) {
  auto child = start(shell("head -c 8388610 /dev/zero | tr '\\0' x; sleep 100"));

  EXPECT_EQ(read_line(child).error().code, ErrorCode::corrupt);
  EXPECT_EQ(read_line(child).error().code, ErrorCode::corrupt);
}

asio::awaitable<bool> reads_within(ChildProcess& child, std::chrono::milliseconds patience) {
  asio::steady_timer timer{co_await asio::this_coro::executor, patience};
  auto const first = co_await (child.read_line() || timer.async_wait(asio::use_awaitable));
  co_return first.index() == 0;
}

TEST_F(ChildProcessTest, LosesNothingWhenAReadIsCancelled) {
  auto child = start(shell("printf one; read go; echo two"));

  EXPECT_FALSE(run(loop_, reads_within(child, 100ms)));
  ASSERT_TRUE(run(loop_, child.write_line("go")));

  EXPECT_EQ(read_line(child).value(), "onetwo");
}

asio::awaitable<bool> ends_within(ChildProcess& child, std::chrono::milliseconds patience) {
  asio::steady_timer timer{co_await asio::this_coro::executor, patience};
  auto const first = co_await (child.wait() || timer.async_wait(asio::use_awaitable));
  co_return first.index() == 0;
}

TEST_F(ChildProcessTest, CanBeWaitedForAgainAfterACancelledWait) {
  auto child = start(program({"sleep", "100"}));

  EXPECT_FALSE(run(loop_, ends_within(child, 50ms)));
  child.kill_group(SIGTERM);

  EXPECT_EQ(describe(wait(child)), "killed by SIGTERM (Terminated)");
  EXPECT_EQ(wait(child).signal, SIGTERM);
}

TEST_F(ChildProcessTest, ReportsHowTheChildEnded) {
  auto exited = start(shell("exit 3"));
  auto killed = start(shell("kill -SEGV $$"));

  EXPECT_EQ(describe(wait(exited)), "exit status 3");
  EXPECT_EQ(describe(wait(killed)), "killed by SIGSEGV (Segmentation fault)");
}

TEST_F(ChildProcessTest, NamesAProgramThatDoesNotExist) {
  auto const by_path = refusal_of(program({"/nowhere/torch"}));
  EXPECT_EQ(by_path.code, ErrorCode::not_found);
  EXPECT_EQ(by_path.message, "start /nowhere/torch: No such file or directory");

  auto const by_name = refusal_of(program({"no-such-program-anywhere"}));
  EXPECT_EQ(by_name.code, ErrorCode::not_found);
  EXPECT_THAT(by_name.message, HasSubstr("no-such-program-anywhere"));
}

TEST_F(ChildProcessTest, NamesAProgramThatMayNotBeExecuted) {
  auto const refusal = refusal_of(program({"/etc/passwd"}));
  EXPECT_EQ(refusal.code, ErrorCode::refused);
  EXPECT_EQ(refusal.message, "start /etc/passwd: Permission denied");
}

TEST_F(ChildProcessTest, NamesADirectoryThatDoesNotExist) {
  auto command = program({"true"});
  command.directory = "/nowhere";
  auto const refusal = refusal_of(command);
  EXPECT_EQ(refusal.code, ErrorCode::not_found);
  EXPECT_EQ(refusal.message, "start true in /nowhere: No such file or directory");
}

TEST_F(ChildProcessTest, NamesAnOutputFileThatCannotBeOpened) {
  auto command = program({"true"});
  command.stdout_file = "/nowhere/log";
  auto const refusal = refusal_of(command);
  EXPECT_EQ(refusal.code, ErrorCode::not_found);
  EXPECT_EQ(refusal.message, "start true: open /nowhere/log: No such file or directory");
}

TEST_F(ChildProcessTest, RefusesAnEmptyCommand) {
  EXPECT_EQ(refusal_of({}).code, ErrorCode::invalid_argument);
}

TEST_F(ChildProcessTest, AddsToTheEnvironmentAndTakesFromIt) {
  ::setenv("RUNNER_TESTS_KEPT", "kept", 1);
  ::setenv("RUNNER_TESTS_TAKEN", "taken", 1);
  auto command = shell("echo $RUNNER_TESTS_KEPT-$RUNNER_TESTS_TAKEN-$RUNNER_TESTS_ADDED");
  command.env["RUNNER_TESTS_ADDED"] = "a = b";
  command.inherits = {"RUNNER_TESTS_*"};
  command.withholds = {"RUNNER_TESTS_TAKEN"};

  EXPECT_EQ(first_line_of(std::move(command)), "kept--a = b");
}

TEST_F(ChildProcessTest, StartsInTheGivenDirectory) {
  auto command = shell("pwd");
  command.directory = "/usr";
  EXPECT_EQ(first_line_of(std::move(command)), "/usr");
}

TEST_F(ChildProcessTest, AppendsOutputToFiles) {
  tests::Workplace workplace;
  auto const log = workplace.prefix() + "/log";
  for (int i = 0; i < 2; ++i) {
    auto command = shell("echo out; echo err >&2");
    command.stdout_file = log;
    command.stderr_file = log;
    auto child = start(std::move(command));
    wait(child);
    EXPECT_EQ(read_line(child).error().code, ErrorCode::unavailable);
    EXPECT_EQ(child.last_stderr(), "");
  }

  std::ifstream file{log};
  std::string const written{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(written, "out\nerr\nout\nerr\n");
}

TEST_F(ChildProcessTest, DrainsStandardErrorAndKeepsItsEnd) {
  auto child = start(shell("head -c 3000000 /dev/zero | tr '\\0' e >&2; echo last >&2; echo done"));

  EXPECT_EQ(read_line(child).value(), "done");
  EXPECT_EQ(child.last_stderr(), std::string(4096 - 5, 'e') + "last\n");
}

TEST_F(ChildProcessTest, KeepsWhatWasPrintedRightBeforeTheEnd) {
  auto child = start(shell("echo why >&2"));
  wait(child);
  EXPECT_EQ(child.last_stderr(), "why\n");
}

TEST_F(ChildProcessTest, SurvivesAChildThatDoesNotRead) {
  auto child = start(program({"true"}));
  wait(child);
  EXPECT_EQ(run(loop_, child.write_line("hello?")).error().code, ErrorCode::unavailable);
}

TEST_F(ChildProcessTest, HandsDownNoDescriptors) {
  int const leaky = ::fcntl(STDOUT_FILENO, F_DUPFD, 100);
  auto const script =
      "test -e /proc/self/fd/" + std::to_string(leaky) + " && echo open || echo closed";
  EXPECT_EQ(first_line_of(shell(script)), "closed");
  ::close(leaky);
}

TEST_F(ChildProcessTest, HandsDownNoSignalDispositionsAndNoMask) {
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  // This process ignores SIGPIPE since its first child.
  auto child = start(program({"grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"}));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);

  EXPECT_EQ(read_line(child).value(), "SigBlk:\t0000000000000000");
  EXPECT_EQ(read_line(child).value(), "SigIgn:\t0000000000000000");
}

TEST_F(ChildProcessTest, KillsGrandchildrenToo) {
  pid_t grandchild = 0;
  {
    auto child = start(shell("sleep 1000 & echo $!; wait"));
    grandchild = std::stoi(read_line(child).value());
    EXPECT_EQ(::getpgid(grandchild), child.pid());
  }
  EXPECT_TRUE(tests::has_ended(grandchild));
}

TEST_F(ChildProcessTest, KillsGrandchildrenThatOutliveTheChild) {
  pid_t grandchild = 0;
  {
    auto child = start(shell("sleep 1000 >/dev/null 2>&1 & echo $!"));
    grandchild = std::stoi(read_line(child).value());
    EXPECT_EQ(describe(wait(child)), "exit status 0");
  }
  EXPECT_TRUE(tests::has_ended(grandchild));
}

Command sandbox_of(std::string const& starter) {
  return program(tests::pretended_sandbox(starter));
}

TEST_F(ChildProcessTest, IsEndedWhenItIsASandboxOfADeadStarter) {
  auto const living = tests::our_identity();
  EXPECT_TRUE(living.starts_with(std::to_string(::getpid()) + "-"));
  auto const here = living.substr(living.rfind('-'));
  auto kept = start(sandbox_of(living));
  auto stranger = start(sandbox_of(std::to_string(::getpid()) + "-1-pid:[1]"));
  auto orphan = start(sandbox_of(std::to_string(::getpid()) + "-1" + here));
  ASSERT_TRUE(read_line(kept));
  ASSERT_TRUE(read_line(stranger));
  ASSERT_TRUE(read_line(orphan));

  // The identity of a process does not depend on its size.
  std::vector<char> const grown(std::size_t{64} << 20, 'x');
  end_orphaned_sandboxes();

  EXPECT_EQ(describe(wait(orphan)), "killed by SIGKILL (Killed)");
  EXPECT_EQ(grown.back(), 'x');
  for (auto const pid : {kept.pid(), stranger.pid()})
    EXPECT_GT(ProcessTree(pid, false).look().processes, 0);
}

/// Returns the start time: the 22nd field of /proc/PID/stat. The second, the name, has no blanks
/// here.
std::string start_of(pid_t pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string field;
  for (int i = 0; i < 22; ++i)
    stat >> field;
  return field;
}

TEST_F(ChildProcessTest, IsEndedWhenItIsASandboxOfAZombie) {
  auto const living = tests::our_identity();
  auto const starter = ::fork();
  ASSERT_NE(starter, -1);
  if (starter == 0) ::_exit(0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(starter), &ended, WEXITED | WNOWAIT), 0);
  auto orphan = start(sandbox_of(std::to_string(starter) + '-' + start_of(starter) +
                                 living.substr(living.rfind('-'))));
  ASSERT_TRUE(read_line(orphan));

  end_orphaned_sandboxes();

  EXPECT_EQ(describe(wait(orphan)), "killed by SIGKILL (Killed)");
  EXPECT_EQ(::waitpid(starter, nullptr, 0), starter);
}

TEST_F(ChildProcessTest, FindsHiddenPathsEmptyBehindLinks) {
  tests::TemporaryFolder const host;
  auto const write = [&host](char const* directory) {
    std::filesystem::create_directories(host.path() / directory / "state/build");
    for (auto const* const file : {"token", "state/database", "state/build/worker"})
      std::ofstream{host.path() / directory / file} << "of " << directory;
  };
  write("opt");
  write("home");
  Sandbox sandbox;
  sandbox.readable = {host.path() / "opt", host.path() / "opt/state/build"};
  for (auto const* const directory : {"opt", "home"})
    for (auto const* const path : {"token", "state", "none"})
      sandbox.hidden.push_back(host.path() / directory / path);
  auto const look = "cd " + host.path().string() + "; cat opt/token; find . -type f -size +0; ls";
  auto const argv = sandboxed(tests::best_isolation(loop_), sandbox, {"sh", "-c", look});
  auto child = start(program(argv));
  EXPECT_EQ(read_line(child).value(), "./opt/state/build/worker");
  EXPECT_EQ(read_line(child).value(), "opt") << "paths that it may not read do not appear";
}

TEST_F(ChildProcessTest, CountsAllProcessesOfItsSandbox) {
  Sandbox const sandbox;
  auto const argv = sandboxed(
      tests::best_isolation(loop_), sandbox, {"sh", "-c", "setsid sleep 100 & echo ok; wait"});
  auto child = start(program(argv));
  ASSERT_TRUE(read_line(child));
  ProcessTree const tree{child.pid(), true};

  int depth = 0;
  for (auto const* const below : {"its first process", "the shell", "what that started"}) {
    auto pid = child.pid();
    for (int i = 0; i <= depth; ++i)
      pid = tests::children_of(pid).front();
    ++depth;
    EXPECT_TRUE(tree.has(pid)) << below;
  }
  EXPECT_FALSE(tree.has(::getpid()));
  EXPECT_FALSE(tree.has(1));
}

TEST_F(ChildProcessTest, FailsAsAHostProblemWithoutDescriptors) {
  Error refusal;
  {
    tests::NoDescriptorsLeft const none;
    refusal = refusal_of(program({"true"}));
  }

  EXPECT_EQ(refusal.code, ErrorCode::unavailable) << refusal.message;
  EXPECT_TRUE(refusal.is_of_host);
  EXPECT_THAT(refusal.message, HasSubstr("Too many open files"));
  EXPECT_FALSE(refusal_of(program({"/nowhere/program"})).is_of_host);
  auto child = start(program({"true"}));
  EXPECT_EQ(wait(child).code, 0);
}

TEST(Shortage, IsOfProcessesDescriptorsAndMemory) {
  for (int const error : {EAGAIN, ENOMEM, EMFILE, ENFILE})
    EXPECT_TRUE(is_shortage(error)) << error;
  for (int const error : {ENOENT, EACCES, ENOEXEC})
    EXPECT_FALSE(is_shortage(error)) << error;
}

TEST_F(ChildProcessTest, LeavesNoZombie) {
  pid_t pid = 0;
  {
    auto child = start(program({"sleep", "1000"}));
    pid = child.pid();
    EXPECT_GT(ProcessTree(pid, false).look().resident_bytes, 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(ProcessTree(pid, false).look().resident_bytes, 0);
}

}  // namespace

}  // namespace torchwatch::process
