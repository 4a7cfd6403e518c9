#include "daemon/measure/runner_process.h"

#include <chrono>
#include <exception>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/async/cancellation.h"
#include "tests/temporary_variable.h"

namespace torchwatch::measure {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::ElementsAre;

/// Returns all output of a runner that ends soon.
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
  config::Options options;
  options.github.token_env = "TORCHWATCH_TEST_BOT";
  config::FleetOptions fleet;
  fleet.launcher = {"/bin/sh", "-c", "env | grep -e TORCHWATCH_TEST_ -e ghp_SecretOfTheService"};
  asio::io_context loop{1};

  auto const start = runner_processes(loop.get_executor(), fleet, "torchwatch", options);
  auto const words = words_of(loop, *start(0).value());

  EXPECT_EQ(words, "TORCHWATCH_TEST_CLUSTER=north\n");
}

/// Returns the command of a runner for a slot of that fleet.
std::string arguments_of(config::FleetOptions fleet, std::size_t slot) {
  fleet.launcher = {"/bin/sh", "-c", "echo $*"};
  asio::io_context loop{1};
  auto const start = runner_processes(loop.get_executor(), fleet, "torchwatch", {});
  return words_of(loop, *start(slot).value());
}

TEST(RunnerProcess, HasTheGpuOfItsSlot) {
  config::FleetOptions fleet;
  EXPECT_EQ(arguments_of(fleet, 1), "runner --slot 1 --slots 1\n");
  fleet.devices = {"GPU-8932f937", "MIG-67bd5cb1"};
  EXPECT_EQ(arguments_of(fleet, 1), "runner --slot 1 --slots 1 --gpu MIG-67bd5cb1\n");
  fleet.devices = {config::all_devices};
  EXPECT_EQ(arguments_of(fleet, 3), "runner --slot 3 --slots 1 --gpu 3\n");
}

TEST(RunnerProcess, SharesItsNumberWithNoFleetOnTheSameCpus) {
  config::Options options;
  options.fleets.clear();
  for (auto const* const name : {"eager", "compiled", "far", "gpu"}) {
    auto& fleet = options.fleets.emplace_back();
    fleet.name = name;
    fleet.slots = 2;
    fleet.launcher = {"/bin/sh", "-c", "echo $*"};
  }
  options.fleets[2].launcher.emplace_back("srun");
  options.fleets[3].device = Device::cuda;
  asio::io_context loop{1};
  std::vector<std::string> numbers;
  for (auto const& fleet : options.fleets) {
    auto const start = runner_processes(loop.get_executor(), fleet, "torchwatch", options);
    auto const words = words_of(loop, *start(1).value());
    numbers.push_back(words.substr(words.find("--slot ")));
  }
  EXPECT_THAT(numbers,
              ElementsAre("--slot 1 --slots 4\n",
                          "--slot 3 --slots 4\n",
                          "--slot 1 --slots 2\n",
                          "--slot 1 --slots 2\n"));
}

TEST(RunnerProcess, KeepsWorkersFromTheStateAndTokens) {
  config::Options options;
  options.state_dir = "/opt/torchwatch/state";
  options.http.token_file = "/opt/torchwatch/token";
  config::FleetOptions fleet;
  fleet.launcher = {"/bin/sh", "-c", "echo $*"};
  asio::io_context loop{1};
  auto const start = runner_processes(loop.get_executor(), fleet, "torchwatch", options);
  EXPECT_EQ(
      words_of(loop, *start(0).value()),
      "runner --slot 0 --slots 1 --hidden /opt/torchwatch/state --hidden /opt/torchwatch/token\n");
}

/// Waits up to 10 seconds for the end of a runner.
bool ends(asio::io_context& loop, Runner& runner) {
  auto ended = asio::co_spawn(loop, runner.ends_within(10s), asio::use_future);
  loop.restart();
  loop.run_for(20s);
  return ended.get();
}

TEST(RunnerProcess, EndsWhenItsInputIsClosed) {
  config::FleetOptions fleet;
  fleet.launcher = {"/bin/sh", "-c", "cat; echo 'srun: error: Node failure on n1' >&2"};
  asio::io_context loop{1};
  auto const start = runner_processes(loop.get_executor(), fleet, "torchwatch", {});
  auto const runner = start(0).value();
  EXPECT_FALSE(runner->has_ended());

  runner->close();

  EXPECT_TRUE(ends(loop, *runner));
  EXPECT_TRUE(runner->has_ended());
  EXPECT_EQ(runner->last_words(), "srun: error: Node failure on n1\n");
}

TEST(RunnerProcess, CancelledWaitForItsEnd_EndsAsCancelled) {
  config::FleetOptions fleet;
  fleet.launcher = {"/bin/sh", "-c", "cat"};
  asio::io_context loop{1};
  auto const start = runner_processes(loop.get_executor(), fleet, "torchwatch", {});
  auto const runner = start(0).value();
  std::exception_ptr failure;
  auto on_end = [&](std::exception_ptr thrown, bool) {
    failure = thrown;
  };
  asio::cancellation_signal stop;
  asio::co_spawn(loop, runner->ends_within(10s), asio::bind_cancellation_slot(stop.slot(), on_end));
  loop.run_for(20ms);

  stop.emit(asio::cancellation_type::terminal);
  loop.restart();
  loop.run_for(100ms);

  ASSERT_TRUE(failure);
  EXPECT_TRUE(async::is_cancellation(failure));
}

TEST(RunnerProcess, KnowsTheHooksOfItsHost) {
  config::FleetOptions fleet;
  fleet.beside_others = true;
  fleet.before_round = {"nvidia-smi", "-lgc", "1410"};
  fleet.after_round = {"nvidia-smi", "-rgc"};
  EXPECT_EQ(arguments_of(fleet, 0),
            "runner --slot 0 --slots 1 --beside-others "
            R"(--before-round ["nvidia-smi","-lgc","1410"] --after-round ["nvidia-smi","-rgc"])"
            "\n");
}

}  // namespace
}  // namespace torchwatch::measure
