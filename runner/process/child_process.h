#pragma once

#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <sys/types.h>

#include "storage/base/result.h"

namespace torchwatch::process {

/// A program to start, with its environment, directory, output files and processors.
struct Command {
  std::vector<std::string> argv;           ///< argv[0] is looked up in PATH unless it holds a '/'
  std::map<std::string, std::string> env;  ///< variables, added to the inherited ones
  std::vector<std::string> inherits;       ///< more variables of this process, as for is_named
  std::vector<std::string> withholds;      ///< variables of this process that are not inherited
  std::string directory;                   ///< empty: the current one
  std::string stdout_file;                 ///< output is appended to it; empty: a pipe
  std::string stderr_file;                 ///< errors are appended to it; empty: a pipe
  std::vector<int> processors;             ///< CPUs to run on; empty: those of this process
};

/// The exit code of a process, or the signal that killed it.
struct ExitStatus {
  int code = 0;
  int signal = 0;  ///< 0 unless a signal killed it
};

/// Returns "exit status 3" or "killed by SIGSEGV (Segmentation fault)".
std::string describe(ExitStatus status);

/// One child process, its pipes and its process group. Use it on one thread, the executor's; its
/// context must outlive it.
///
/// The child leads its own process group. It gets default signal dispositions and only the
/// descriptors 0, 1 and 2. The kernel kills it when the thread that started it ends for any reason.
class ChildProcess {
 public:
  /// Starts `command` and returns when the program runs. Errors: `not_found` when the program, its
  /// directory or the folder of an output file does not exist; `refused` when it may not be
  /// executed; `invalid_argument` when argv is empty; `unavailable`, with Error::is_of_host, when
  /// the host is out of processes, descriptors or memory. From the first call on, this process
  /// ignores SIGPIPE.
  static Result<ChildProcess> start(boost::asio::any_io_executor executor, Command command);

  ChildProcess(ChildProcess const&) = delete;
  ChildProcess& operator=(ChildProcess const&) = delete;
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  /// Kills the whole group and reaps the child.
  ~ChildProcess();

  /// Reads the next line of standard output, without the newline. Errors as in LineReader. At most
  /// one read at a time.
  boost::asio::awaitable<Result<std::string>> read_line();

  /// Reads the next bytes of standard output, regardless of lines. Errors as in LineReader.
  boost::asio::awaitable<Result<std::string>> read_block();

  /// Writes a line to standard input. `unavailable` when the child has closed it or ended.
  boost::asio::awaitable<Result<>> write_line(std::string line);

  void close_stdin();

  /// Waits until the child itself has ended. Processes that it started may still run. May be called
  /// repeatedly. Throws boost::system::system_error with operation_aborted when cancelled.
  boost::asio::awaitable<ExitStatus> wait();

  /// True when the child itself has ended.
  bool has_ended() const;

  /// Signals every process of the group. Safe after the child has ended: it is reaped only at
  /// destruction, so its number is not reused before.
  void kill_group(int signal = SIGKILL) noexcept;

  /// Asks every process of the group to end (SIGTERM), kills them after `patience`, and returns
  /// when the child has ended. Blocks.
  void terminate(std::chrono::milliseconds patience) noexcept;

  pid_t pid() const;

  /// Returns the last 4 KiB that the child printed on standard error. The pipe is drained
  /// continuously, so printing never blocks the child.
  std::string last_stderr() const;

 private:
  struct State;
  explicit ChildProcess(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace torchwatch::process
