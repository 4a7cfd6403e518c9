#include "daemon/async/tool.h"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "daemon/async/watchdog.h"
#include "tests/runner/run.h"
#include "tests/temporary_folder.h"

namespace torchwatch::async {
namespace {

using namespace std::chrono_literals;

Result<ToolRun> run_shell(std::string const& script, std::chrono::seconds limit = 20s) {
  boost::asio::io_context loop{1};
  process::Command command;
  command.argv = {"sh", "-c", script};
  return tests::run(loop, run_tool(loop.get_executor(), std::move(command), limit));
}

TEST(Tool, IsReadToItsEnd) {
  auto const run = run_shell("echo one; echo two; echo trouble >&2; exit 3").value();

  EXPECT_EQ(run.output, "one\ntwo\n");
  EXPECT_EQ(run.errors, "trouble\n");
  EXPECT_EQ(run.status.code, 3);
  EXPECT_FALSE(run.is_good());
  EXPECT_EQ(why_it_failed(run), "trouble");
  EXPECT_TRUE(run_shell("true").value().is_good());
}

TEST(Tool, IsReadWhereItsLastLineDoesNotEnd) {
  EXPECT_EQ(run_shell("echo one; printf two").value().output, "one\ntwo");
  EXPECT_EQ(run_shell("printf one").value().output, "one");
}

TEST(Tool, ThatSaysNothingFailsByItsStatus) {
  EXPECT_EQ(why_it_failed(run_shell("exit 3").value()), "exit status 3");
  EXPECT_EQ(why_it_failed(run_shell("kill -KILL $$").value()), "killed by SIGKILL (Killed)");
}

TEST(Tool, HasNoInputAndNoToken) {
  ::setenv("GITHUB_TOKEN", "secret", 1);
  auto const run = run_shell("cat; echo \"token=$GITHUB_TOKEN\"").value();
  ::unsetenv("GITHUB_TOKEN");

  EXPECT_EQ(run.output, "token=\n");
}

TEST(Tool, ThatTakesTooLongIsKilled) {
  auto const started = std::chrono::steady_clock::now();
  auto const run = run_shell("sleep 60 & sleep 60", 1s);

  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::unavailable);
  EXPECT_EQ(run.error().message, "sh exceeded its time limit of 1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - started, 20s);
}

TEST(Tool, ThatPrintsWithoutEndIsKilled) {
  auto const run = run_shell("sleep 60 & yes \"$(printf %0999d 0)\"");

  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::unavailable);
  EXPECT_EQ(run.error().message, "sh: printed more than 16 MiB");
}

TEST(Tool, ThatPrintsALineWithoutEndIsKilled) {
  auto const run = run_shell("sleep 60 & tr '\\0' x < /dev/zero");

  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::unavailable);
  EXPECT_EQ(run.error().message, "sh: printed more than 16 MiB");
}

/// The loop that reads a tool does other things, too.
TEST(Tool, ThatPrintsTinyLinesDoesNotKeepTheLoopBusy) {
  boost::asio::io_context loop{1};
  process::Command command;
  command.argv = {"sh", "-c", "sleep 60 & yes"};
  std::optional<Result<ToolRun>> run;
  boost::asio::co_spawn(loop,
                        run_tool(loop.get_executor(), std::move(command), 20s),
                        [&run](std::exception_ptr, Result<ToolRun> ended) { run = ended; });
  std::size_t turns = 0;
  while (!run && loop.run_one() > 0)
    ++turns;

  ASSERT_TRUE(run);
  EXPECT_EQ(run->error().message, "sh: printed more than 16 MiB");
  EXPECT_LT(turns, 50'000U) << "of eight million lines";
}

TEST(Watchdog, KeepsTheBeginningOfALogThatBecameTooLong) {
  tests::TemporaryFolder const folder;
  boost::asio::io_context loop{1};
  process::Command command;
  command.argv = {"sh", "-c", "echo first; sleep 60 & yes"};
  command.stdout_file = folder / "log";
  Limits const limits{20s, command.stdout_file, std::int64_t{1} << 20};
  auto program = process::ChildProcess::start(loop.get_executor(), std::move(command)).value();
  Watchdog const watchdog{loop.get_executor(), limits, program};

  auto const status = tests::run(loop, program.wait());

  EXPECT_EQ(status.signal, SIGKILL);
  EXPECT_EQ(watchdog.complaint(), "printed more than 1 MiB");
  EXPECT_LT(std::filesystem::file_size(limits.log), std::size_t{2} << 20);
  std::ifstream log{limits.log};
  std::string line;
  std::getline(log, line);
  EXPECT_EQ(line, "first");
}

TEST(Tool, ThatIsNotInstalledIsNamed) {
  boost::asio::io_context loop{1};
  process::Command command;
  command.argv = {"no-such-tool"};

  auto const run = tests::run(loop, run_tool(loop.get_executor(), std::move(command), 1s));

  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::not_found);
  EXPECT_THAT(run.error().message, testing::HasSubstr("no-such-tool"));
}

}  // namespace
}  // namespace torchwatch::async
