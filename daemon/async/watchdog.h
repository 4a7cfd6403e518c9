#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "runner/process/child_process.h"

namespace torchwatch::async {

/// What a program may take before it is killed.
struct Limits {
  std::chrono::seconds time{};
  std::string log;  ///< the file that it prints to; empty: none
  /// Of `log`. What compiles all of PyTorch and names each command prints a tenth of it.
  std::int64_t log_bytes = std::int64_t{256} << 20;
};

/// Kills a process group that takes more than its limits, as long as the watchdog lives. A log that
/// became too long keeps its beginning. `process` must outlive it; single-threaded, on the
/// executor's thread.
class Watchdog {
 public:
  Watchdog(boost::asio::any_io_executor const& executor,
           Limits limits,
           process::ChildProcess& process);
  Watchdog(Watchdog const&) = delete;
  Watchdog& operator=(Watchdog const&) = delete;
  ~Watchdog();

  /// Why it killed the process: "took longer than 60 s", "printed more than 256 MiB". Empty when it
  /// did not.
  std::string const& complaint() const;

 private:
  struct Watch;
  std::shared_ptr<Watch> watch_;
};

}  // namespace torchwatch::async
