#pragma once

#include <chrono>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "runner/process/child_process.h"
#include "storage/base/result.h"

namespace torchwatch::async {

/// The exit status and the output of a program.
struct ToolRun {
  process::ExitStatus status;
  std::string output;  ///< standard output
  std::string errors;  ///< the last 4 KiB of standard error

  bool is_good() const { return status.code == 0 && status.signal == 0; }
};

/// Runs a program (git, a recipe) to its end, with nothing on standard input. Fails as
/// ChildProcess::start does. Fails with unavailable, and kills its process group, when it exceeds
/// `limit`, prints more than 16 MiB, or exceeds a Watchdog's limit for its log.
boost::asio::awaitable<Result<ToolRun>> run_tool(boost::asio::any_io_executor executor,
                                                 process::Command command,
                                                 std::chrono::seconds limit);

/// Returns the reason why a tool failed, in one line: its last output, or else its exit status.
std::string why_it_failed(ToolRun const& run);

}  // namespace torchwatch::async
