#include "daemon/measure/runner_process.h"

#include <chrono>
#include <future>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "tests/temporary_variable.h"

namespace torchwatch::measure {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// All that a runner says until it ends, which is soon.
std::string words_of(asio::io_context& loop, Runner& runner) {
  std::string words;
  for (;;) {
    auto reading = asio::co_spawn(loop, runner.read_line(), asio::use_future);
    loop.restart();
    loop.run_for(10s);
    if (reading.wait_for(0s) != std::future_status::ready) return words + "and does not end";
    auto const line = reading.get();
    if (!line) return words;
    words += *line + '\n';
  }
}

TEST(RunnerProcess, HasEveryVariableButGithubsToken) {
  tests::TemporaryVariable const token{"TORCHWATCH_TEST_BOT", "ghp_SecretOfTheService"};
  tests::TemporaryVariable const other{"TORCHWATCH_TEST_CLUSTER", "north"};
  config::GithubOptions github;
  github.token_env = "TORCHWATCH_TEST_BOT";
  config::FleetOptions fleet;
  fleet.launcher = {"/bin/sh", "-c", "env | grep -e TORCHWATCH_TEST_ -e ghp_SecretOfTheService"};
  asio::io_context loop{1};

  auto const start = runner_processes(loop.get_executor(), fleet, "torchwatch", github);
  auto const words = words_of(loop, *start(0).value());

  EXPECT_EQ(words, "TORCHWATCH_TEST_CLUSTER=north\n");
}

}  // namespace
}  // namespace torchwatch::measure
