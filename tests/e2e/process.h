#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <sys/types.h>

#include "runner/process/child_process.h"

namespace torchwatch::e2e {

/// The exit status and the output of a process that has ended.
struct Finished {
  int status = 0;
  int signal = 0;  ///< 0 unless a signal killed it
  std::string out;
  std::string err;
};

/// A program under test, with its output in files. It is killed when this object is destroyed or
/// the thread that created it ends.
class Process {
 public:
  /// Starts the program. Its output goes to `output`.out and `output`.err. Throws when it cannot be
  /// started.
  Process(process::Command command, std::filesystem::path const& output);

  pid_t pid() const { return child_.pid(); }

  /// Waits up to `limit` for its end. Returns nothing when it is still running.
  std::optional<Finished> ended_within(std::chrono::milliseconds limit);

  /// Waits for its end. Throws after `limit`, with the end of its standard error.
  Finished wait(std::chrono::seconds limit = std::chrono::seconds{180});

  /// Sends a signal to this process only, not to its children.
  void send(int signal) const;

  std::string out() const;
  std::string err() const;

 private:
  boost::asio::io_context loop_{1};
  std::filesystem::path output_;
  process::ChildProcess child_;
};

/// Returns the content of a file; empty when it does not exist.
std::string text_of(std::filesystem::path const& file);

}  // namespace torchwatch::e2e
