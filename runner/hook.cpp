#include "runner/hook.h"

#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include "runner/process/child_process.h"
#include "runner/process/excerpt.h"
#include "runner/process/spawn.h"

namespace torchwatch::runner {
namespace asio = boost::asio;

namespace {

Error failure_of(std::vector<std::string> const& command, std::string const& why) {
  auto const text = why.substr(0, why.find_last_not_of(" \n") + 1);
  return {ErrorCode::unavailable, "hook " + command.front() + ": " + process::excerpt(text)};
}

Result<> run(std::vector<std::string> const& command,
             std::map<std::string, std::string> const& variables,
             std::chrono::milliseconds patience) {
  asio::io_context loop{1};
  process::Command hook;
  hook.argv = command;
  hook.env = variables;
  hook.inherits = {"*"};
  auto started = process::ChildProcess::start(loop.get_executor(), std::move(hook));
  if (!started) return started.error();
  started->close_stdin();
  std::optional<process::ExitStatus> ended;
  asio::co_spawn(loop, started->wait(), [&](auto const&, process::ExitStatus status) {
    ended = status;
    loop.stop();
  });
  loop.run_for(patience);
  if (!ended) {
    started->kill_group();
    loop.run();  // the coroutine that waits still uses the process
    return failure_of(command, "did not end in time");
  }
  if (ended->code == 0 && ended->signal == 0) return {};
  return failure_of(command, describe(*ended) + ": " + started->last_stderr());
}

}  // namespace

Result<> run_hook(std::vector<std::string> const& command,
                  std::map<std::string, std::string> const& variables,
                  std::chrono::milliseconds patience) {
  if (command.empty()) return {};
  try {
    return run(command, variables, patience);
  } catch (boost::system::system_error const& problem) {
    // The event loop needs descriptors, too.
    auto failure = failure_of(command, problem.what());
    failure.is_of_host = process::is_shortage(problem.code().value());
    return failure;
  }
}

}  // namespace torchwatch::runner
