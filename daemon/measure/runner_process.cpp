#include "daemon/measure/runner_process.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "config/private_paths.h"
#include "daemon/measure/gpu_slots.h"
#include "runner/process/child_process.h"

namespace torchwatch::measure {
namespace asio = boost::asio;

namespace {

/// The time that srun takes to return an allocation when its controller replies.
constexpr std::chrono::seconds patience{5};

class RunnerProcess final : public Runner {
 public:
  explicit RunnerProcess(process::ChildProcess child) : child_{std::move(child)} {}

  RunnerProcess(RunnerProcess const&) = delete;
  RunnerProcess& operator=(RunnerProcess const&) = delete;

  /// Blocks until the launcher has ended.
  ~RunnerProcess() override {
    child_.close_stdin();
    child_.terminate(patience);
  }

  asio::awaitable<Result<std::string>> read_line() override { return child_.read_line(); }

  asio::awaitable<Result<>> write_line(std::string line) override {
    return child_.write_line(std::move(line));
  }

  std::string last_words() const override { return child_.last_stderr(); }

  void close() override { child_.close_stdin(); }

  bool has_ended() const override { return child_.has_ended(); }

  asio::awaitable<bool> ends_within(std::chrono::milliseconds limit) override {
    using namespace asio::experimental::awaitable_operators;
    asio::steady_timer timer{co_await asio::this_coro::executor, limit};
    // One side returns when cancelled: two exceptions at once would not look like a cancellation.
    co_await (child_.wait() || timer.async_wait(asio::as_tuple(asio::use_awaitable)));
    auto const state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
      throw boost::system::system_error{asio::error::operation_aborted};
    co_return child_.has_ended();
  }

 private:
  process::ChildProcess child_;
};

std::vector<std::string> isolating_arguments(config::FleetOptions const& fleet) {
  std::vector<std::string> arguments;
  if (fleet.isolation == config::IsolationWish::none) arguments.emplace_back("--no-isolation");
  if (fleet.network) arguments.emplace_back("--network");
  for (auto const& path : fleet.readable)
    arguments.insert(arguments.end(), {"--readable", path});
  for (auto const& name : fleet.environment)
    arguments.insert(arguments.end(), {"--environment", name});
  return arguments;
}

/// Returns the hooks as JSON, since their arguments may look like our own options.
std::vector<std::string> hooks_of(config::FleetOptions const& fleet) {
  std::vector<std::string> arguments;
  if (!fleet.before_round.empty())
    arguments.insert(arguments.end(),
                     {"--before-round", nlohmann::json(fleet.before_round).dump()});
  if (!fleet.after_round.empty())
    arguments.insert(arguments.end(), {"--after-round", nlohmann::json(fleet.after_round).dump()});
  return arguments;
}

/// The slots of all fleets that measure on the CPUs of the same hosts, numbered together so that
/// each has its own CPUs.
struct SlotNumbers {
  int first = 0;  ///< number of the fleet's first slot
  int count = 0;
};

SlotNumbers slot_numbers_of(config::FleetOptions const& fleet, config::Options const& options) {
  SlotNumbers numbers;
  for (auto const& other : options.fleets) {
    if (other.device != fleet.device || other.launcher != fleet.launcher) continue;
    if (other.name == fleet.name) numbers.first = numbers.count;
    numbers.count += other.slots;
  }
  numbers.count = std::max(numbers.count, fleet.slots);
  return numbers;
}

}  // namespace

StartRunner runner_processes(asio::any_io_executor executor,
                             config::FleetOptions const& fleet,
                             std::string executable,
                             config::Options const& options) {
  return [executor = std::move(executor),
          fleet,
          executable = std::move(executable),
          hidden = config::private_paths(options),
          numbers = slot_numbers_of(fleet, options),
          token = options.github.token_env](std::size_t slot) -> Result<std::unique_ptr<Runner>> {
    process::Command command;
    command.argv = fleet.launcher;
    command.argv.insert(command.argv.end(),
                        {executable,
                         "runner",
                         "--slot",
                         std::to_string(numbers.first + static_cast<int>(slot)),
                         "--slots",
                         std::to_string(numbers.count)});
    if (auto const gpu = gpu_of_slot(fleet.devices, slot); !gpu.empty())
      command.argv.insert(command.argv.end(), {"--gpu", gpu});
    if (fleet.beside_others) command.argv.emplace_back("--beside-others");
    auto const isolating = isolating_arguments(fleet);
    command.argv.insert(command.argv.end(), isolating.begin(), isolating.end());
    for (auto const& path : hidden)
      command.argv.insert(command.argv.end(), {"--hidden", path});
    auto const hooks = hooks_of(fleet);
    command.argv.insert(command.argv.end(), hooks.begin(), hooks.end());
    command.inherits = {"*"};  // a launcher may use any variable
    command.withholds = {token};
    auto started = process::ChildProcess::start(executor, std::move(command));
    if (!started) return started.error();
    spdlog::debug("runner_started fleet={} slot={} pid={}", fleet.name, slot, started->pid());
    return std::make_unique<RunnerProcess>(std::move(*started));
  };
}

}  // namespace torchwatch::measure
