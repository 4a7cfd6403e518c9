#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <sys/types.h>

#include "runner/protocol.h"

namespace torchwatch {

/// A real torchwatch-worker on two pipes. The destructor ends its input and waits for it.
class WorkerProcess {
 public:
  /// `preload`: a shared library for LD_PRELOAD; empty: none. `program`: the worker.
  explicit WorkerProcess(std::string const& preload = {},
                         std::vector<std::string> arguments = {},
                         std::string const& program = TORCHWATCH_WORKER_PATH);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess const&) = delete;
  WorkerProcess& operator=(WorkerProcess const&) = delete;

  void write_line(std::string const& line);
  /// Reads a line, without the newline; empty at the end of output.
  std::string read_line();

  /// Sends a message, and returns the first answer that is not progress.
  protocol::Message ask(protocol::Message const& message);
  protocol::Message read_message();

  bool is_running() const;
  /// Ends the input and returns the exit status, or -1 when a signal killed it.
  int finish();

 private:
  pid_t pid_ = -1;

  struct Close {
    void operator()(std::FILE* stream) const {
      // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): called by the owner
      std::ignore = std::fclose(stream);
    }
  };

  std::unique_ptr<std::FILE, Close> input_;
  std::unique_ptr<std::FILE, Close> output_;
};

}  // namespace torchwatch
