#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <unistd.h>

#include "daemon/suite_try/marked_processes.h"
#include "daemon/suite_try/slow_down.h"
#include "runner/process/child_process.h"

namespace torchwatch::suite_try {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string const mark = "mark" + std::to_string(::getpid());

process::Command marked_command(std::string const& script) {
  process::Command command;
  command.argv = {"sh", "-c", script};
  command.env = {{"TORCHWATCH_TRY", mark}};
  return command;
}

/// Waits up to 5 s until `is_so` returns true.
void wait_until(std::function<bool()> const& is_so) {
  auto const until = std::chrono::steady_clock::now() + 5s;
  while (!is_so() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(10ms);
}

bool leads_session(pid_t pid) {
  return ::getsid(pid) == pid;
}

TEST(MarkedProcesses, AreFoundInAnySessionUntilTheyEnd) {
  boost::asio::io_context loop{1};
  MarkedProcesses const marked{"TORCHWATCH_TRY=" + mark};
  auto child = process::ChildProcess::start(
      loop.get_executor(), marked_command("setsid sleep 600 > /dev/null & exec sleep 600"));
  ASSERT_TRUE(child);
  wait_until([&] { return std::ranges::any_of(marked.find(), leads_session); });
  EXPECT_THAT(marked.find(), SizeIs(2));
  child->kill_group();
  wait_until([&] { return marked.find().size() == 1; });
  EXPECT_THAT(marked.find(), SizeIs(1));
  marked.signal(SIGKILL);
  wait_until([&] { return marked.find().empty(); });
  EXPECT_THAT(marked.find(), IsEmpty());
}

TEST(MarkedProcesses, AreNotThoseWithALongerValue) {
  boost::asio::io_context loop{1};
  auto const child =
      process::ChildProcess::start(loop.get_executor(), marked_command("exec sleep 600"));
  ASSERT_TRUE(child);
  MarkedProcesses const marked{"TORCHWATCH_TRY=" + mark};
  std::vector<pid_t> found;
  wait_until([&] {  // during exec its environment is empty
    found = marked.find();
    return !found.empty();
  });
  EXPECT_THAT(found, ElementsAre(child->pid()));
  EXPECT_THAT(MarkedProcesses{"TORCHWATCH_TRY=" + mark.substr(0, mark.size() - 1)}.find(),
              IsEmpty());
}

TEST(SlowDown, LeavesAnEighthOfTheTime) {
  boost::asio::io_context loop{1};
  MarkedProcesses const marked{"TORCHWATCH_TRY=" + mark};
  auto const child =
      process::ChildProcess::start(loop.get_executor(), marked_command("while :; do :; done"));
  ASSERT_TRUE(child);
  auto const begin = marked.cpu_seconds();
  boost::asio::co_spawn(loop, slow_down(marked), boost::asio::detached);
  loop.run_for(1s);
  auto const used = marked.cpu_seconds() - begin;
  EXPECT_GT(used, 0);
  EXPECT_LT(used, 0.6);
}

}  // namespace
}  // namespace torchwatch::suite_try
