#pragma once

#include <chrono>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "runner/process/child_process.h"
#include "storage/base/result.h"

namespace torchwatch::async {

/// How a program ended, and what it printed.
struct ToolRun {
  process::ExitStatus status;
  std::string output;  ///< standard output
  std::string errors;  ///< the last 4 KiB of standard error

  bool is_good() const { return status.code == 0 && status.signal == 0; }
};

/// Runs a program (git, a recipe) to its end, with nothing on standard input. Fails as
/// ChildProcess::start does; with unavailable when the program takes longer than `limit`, prints
/// more than 16 MiB, or lets the file that it prints to instead grow beyond what a Watchdog allows:
/// all of these kill its process group.
boost::asio::awaitable<Result<ToolRun>> run_tool(boost::asio::any_io_executor executor,
                                                 process::Command command,
                                                 std::chrono::seconds limit);

/// Why a tool failed, in one line: the last that it said, or else how it ended.
std::string why_it_failed(ToolRun const& run);

}  // namespace torchwatch::async
