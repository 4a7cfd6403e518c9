#include "daemon/async/tool.h"

#include <csignal>
#include <utility>

#include "daemon/async/watchdog.h"
#include "runner/process/excerpt.h"

namespace torchwatch::async {
namespace asio = boost::asio;

asio::awaitable<Result<ToolRun>> run_tool(asio::any_io_executor executor,
                                          process::Command command,
                                          std::chrono::seconds limit) {
  using std::chrono::steady_clock;
  auto const name = command.argv.front();
  auto const started = steady_clock::now();
  auto tool = process::ChildProcess::start(executor, std::move(command));
  if (!tool) co_return tool.error();
  tool->close_stdin();
  Watchdog const watchdog{executor, limit, *tool};
  ToolRun run;
  for (;;) {
    auto const line = co_await tool->read_line();
    if (!line) break;
    run.output += *line + '\n';
  }
  run.output += tool->rest_of_output();
  run.status = co_await tool->wait();
  if (run.status.signal == SIGKILL && steady_clock::now() - started >= limit) {
    co_return Error{ErrorCode::unavailable,
                    name + " took longer than " + std::to_string(limit.count()) + " s"};
  }
  run.errors = tool->last_stderr();
  co_return run;
}

std::string why_it_failed(ToolRun const& run) {
  auto const said = process::last_lines(run.errors);
  return said.empty() ? process::describe(run.status) : said;
}

}  // namespace torchwatch::async
