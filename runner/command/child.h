#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "runner/command/log.h"
#include "runner/process/spawn.h"
#include "storage/base/result.h"

namespace torchwatch::command {

/// A program that this process started, with pipes for its standard streams. It stays in the
/// process group of this process, so the runner's limits and signals reach it. Not for several
/// threads.
///
/// Its end, or the destructor, kills all children of this process, and their descendants. So there
/// is one Child at a time, and the process must have called process::adopt_orphans().
class Child {
 public:
  enum class Read { some, nothing, ended };

  /// The time that read() waits at most. `forever`: until there is output or the end.
  static constexpr int forever = -1;

  /// Starts `argv` with the variables `environment`, as "NAME=value". `log` gets its standard
  /// error, and must outlive it. Errors as in process::spawn.
  static Result<Child> start(std::vector<std::string> argv,
                             std::vector<std::string> environment,
                             Log& log);

  Child(Child&&) noexcept = default;
  Child& operator=(Child&&) = delete;
  Child(Child const&) = delete;
  Child& operator=(Child const&) = delete;
  ~Child();

  /// Reads from both of its outputs, after waiting up to `patience` milliseconds. `ended`: it has
  /// ended and all its output was read. Output of processes that it left behind may be lost.
  Read read(int patience);

  /// The bytes of standard output that were read. The caller removes the bytes that it has used.
  std::string& output() { return output_text_; }

  /// Returns the number of bytes of standard output that were read so far.
  std::size_t received() const { return received_; }

  /// Writes to its standard input. False when it has closed its input or ended.
  bool write(std::string_view text);

  void close_input() { input_ = process::Descriptor{}; }

  /// Waits until it has ended, and kills the processes that it left behind. Returns its wait status
  /// (waitpid(2)). Call it once.
  int end();

 private:
  Child(process::Spawned child,
        process::Descriptor input,
        process::Descriptor output,
        process::Descriptor errors,
        Log& log);

  bool read_output();
  bool read_errors();

  pid_t pid_;
  process::Descriptor handle_;  // open until it is reaped
  process::Descriptor input_;
  process::Descriptor output_;
  process::Descriptor errors_;
  Log* log_;
  std::string output_text_;
  std::size_t received_ = 0;
};

/// Returns nothing for a wait status of success. Otherwise an error with the exit status or signal,
/// and the last line of `log`. The code is `refused` for exit status 125, which means that the
/// build cannot run this benchmark, and `unavailable` for the others. Pure.
Result<> check_status(int wait_status, std::string_view log);

}  // namespace torchwatch::command
