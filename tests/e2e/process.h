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

/// How a process ended, and all it said.
struct Finished {
  int status = 0;
  int signal = 0;  ///< 0 unless a signal killed it
  std::string out;
  std::string err;
};

/// A program under test, whose output is kept in files. It is killed with this object, and with the
/// thread that made it.
class Process {
 public:
  /// Writes to `output`.out and `output`.err. Throws when it cannot be started.
  Process(process::Command command, std::filesystem::path const& output);

  pid_t pid() const { return child_.pid(); }

  /// Nothing while it runs on.
  std::optional<Finished> ended_within(std::chrono::milliseconds limit);

  /// Waits for its end. Throws after `limit`, with what it said last: a test that hangs helps
  /// nobody.
  Finished wait(std::chrono::seconds limit = std::chrono::seconds{180});

  /// Signals this one process and nothing that it started.
  void send(int signal) const;

  std::string out() const;
  std::string err() const;

 private:
  boost::asio::io_context loop_{1};
  std::filesystem::path output_;
  process::ChildProcess child_;
};

/// The whole of a file; empty when there is none.
std::string text_of(std::filesystem::path const& file);

}  // namespace torchwatch::e2e
