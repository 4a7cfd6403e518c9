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

/// What to start, and in which surroundings.
struct Command {
  std::vector<std::string> argv;           ///< argv[0] is looked up in PATH unless it holds a '/'
  std::map<std::string, std::string> env;  ///< variables, beside those of ours that it inherits
  std::vector<std::string> inherits;       ///< of ours, beside what any program expects: is_named
  std::vector<std::string> withholds;      ///< of ours, whatever it inherits
  std::string directory;                   ///< empty: ours
  std::string stdout_file;                 ///< appended to instead of a pipe; empty: a pipe
  std::string stderr_file;                 ///< likewise
  std::vector<int> processors;             ///< to run on; none: where we may
};

/// How a process ended.
struct ExitStatus {
  int code = 0;
  int signal = 0;  ///< 0 unless a signal killed it
};

/// "exit status 3" or "killed by SIGSEGV (Segmentation fault)".
std::string describe(ExitStatus status);

/// One child process, its pipes and its process group. Use it on one thread, the executor's; its
/// context must outlive it.
///
/// The child leads a process group of its own, gets default signal dispositions and no descriptor
/// but 0, 1 and 2, and is killed when the thread that started it ends, however that happens.
class ChildProcess {
 public:
  /// Returns when the program runs. Errors: `not_found` when there is no such program, directory or
  /// folder of an output file; `refused` when it may not be executed; `invalid_argument` when argv
  /// is empty; `unavailable` when the host is out of processes, descriptors or memory, which
  /// Error::is_of_host says. From the first call on this process ignores SIGPIPE.
  static Result<ChildProcess> start(boost::asio::any_io_executor executor, Command command);

  ChildProcess(ChildProcess const&) = delete;
  ChildProcess& operator=(ChildProcess const&) = delete;
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  /// Kills the whole group and reaps the child.
  ~ChildProcess();

  /// The next line of standard output, without the newline; errors as LineReader's. At most one
  /// read at a time.
  boost::asio::awaitable<Result<std::string>> read_line();

  /// What standard output has next, whatever lines that is; errors as LineReader's.
  boost::asio::awaitable<Result<std::string>> read_block();

  /// Writes a line to standard input. `unavailable` when the child has closed it or ended.
  boost::asio::awaitable<Result<>> write_line(std::string line);

  void close_stdin();

  /// How the child itself ended; what it started may still run. May be asked again. Throws
  /// boost::system::system_error with operation_aborted when cancelled.
  boost::asio::awaitable<ExitStatus> wait();

  /// Signals every process of the group. Safe after the child has ended: its number is held until
  /// destruction.
  void kill_group(int signal = SIGKILL) noexcept;

  /// Asks every process of the group to end (SIGTERM), kills them after `patience`, and returns
  /// when the child has ended. Blocks.
  void terminate(std::chrono::milliseconds patience) noexcept;

  pid_t pid() const;

  /// The last 4 KiB printed on standard error. It is drained all the time, so printing never blocks
  /// the child.
  std::string last_stderr() const;

 private:
  struct State;
  explicit ChildProcess(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace torchwatch::process
