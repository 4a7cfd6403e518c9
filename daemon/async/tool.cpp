#include "daemon/async/tool.h"

#include <cstddef>
#include <utility>

#include "daemon/async/watchdog.h"
#include "runner/process/excerpt.h"

namespace torchwatch::async {
namespace asio = boost::asio;

namespace {

constexpr std::size_t longest_output = std::size_t{16} << 20;

/// Returns its output; fails when that is too long.
asio::awaitable<Result<std::string>> read_output(process::ChildProcess& tool) {
  std::string output;
  for (;;) {
    auto const block = co_await tool.read_block();
    if (!block) co_return output;
    output += *block;
    if (output.size() > longest_output) {
      co_return Error{ErrorCode::corrupt,
                      "printed more than " + std::to_string(longest_output >> 20) + " MiB"};
    }
  }
}

}  // namespace

asio::awaitable<Result<ToolRun>> run_tool(asio::any_io_executor executor,
                                          process::Command command,
                                          std::chrono::seconds limit) {
  auto const name = command.argv.front();
  Limits limits{limit, command.stdout_file};
  auto tool = process::ChildProcess::start(executor, std::move(command));
  if (!tool) co_return tool.error();
  tool->close_stdin();
  Watchdog const watchdog{executor, std::move(limits), *tool};
  auto output = co_await read_output(*tool);
  if (!output) tool->kill_group();
  ToolRun run;
  run.status = co_await tool->wait();
  if (!watchdog.complaint().empty())
    co_return Error{ErrorCode::unavailable, name + ' ' + watchdog.complaint()};
  if (!output) co_return Error{ErrorCode::unavailable, name + ": " + output.error().message};
  run.output = std::move(*output);
  run.errors = tool->last_stderr();
  co_return run;
}

std::string why_it_failed(ToolRun const& run) {
  auto const said = process::last_lines(run.errors);
  return said.empty() ? process::describe(run.status) : said;
}

}  // namespace torchwatch::async
