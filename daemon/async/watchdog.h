#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "runner/process/child_process.h"

namespace torchwatch::async {

/// The limits of a program, beyond which it is killed.
struct Limits {
  std::chrono::seconds time{};
  std::string log;  ///< the file that it prints to; empty: none
  /// The limit of `log`. A build of all of PyTorch that prints each command writes a tenth of it.
  std::int64_t log_bytes = std::int64_t{256} << 20;
};

/// Kills a process group that exceeds its limits, as long as the watchdog exists. A log that became
/// too long keeps its beginning. `process` must outlive it; single-threaded, on the executor's
/// thread.
class Watchdog {
 public:
  Watchdog(boost::asio::any_io_executor const& executor,
           Limits limits,
           process::ChildProcess& process);
  Watchdog(Watchdog const&) = delete;
  Watchdog& operator=(Watchdog const&) = delete;
  ~Watchdog();

  /// Returns the reason why it killed the process: "exceeded its time limit of 60 s", "printed more
  /// than 256 MiB". Empty when it did not.
  std::string const& complaint() const;

 private:
  struct Watch;
  std::shared_ptr<Watch> watch_;
};

}  // namespace torchwatch::async
