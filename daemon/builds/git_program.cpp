#include "daemon/builds/git_program.h"

#include <sstream>
#include <utility>

#include "runner/process/environment.h"
#include "runner/process/excerpt.h"

namespace torchwatch::builds {
namespace asio = boost::asio;

asio::awaitable<Result<async::ToolRun>> run_git(asio::any_io_executor executor,
                                                std::string repository,
                                                std::vector<std::string> arguments,
                                                std::chrono::seconds limit) {
  process::Command command;
  command.argv = {"git", "-C", std::move(repository)};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.env = {{"GIT_TERMINAL_PROMPT", "0"}, {"LC_ALL", "C"}};  // what it says is looked at
  command.inherits = process::network_variables();
  // GIT_DIR and similar variables would select another repository.
  command.inherits.insert(
      command.inherits.end(),
      {"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_*", "GIT_CONFIG_*", "SSH_*", "XDG_*"});
  co_return co_await async::run_tool(std::move(executor), std::move(command), limit);
}

std::string reason_of_git(async::ToolRun const& run) {
  std::istringstream lines{run.errors};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("fatal: ")) return process::excerpt(line);
  return async::why_it_failed(run);
}

}  // namespace torchwatch::builds
