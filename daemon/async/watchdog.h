#pragma once

#include <chrono>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runner/process/child_process.h"

namespace torchwatch::async {

/// Kills a process group when `limit` is over, unless the watchdog is gone before. `process` must
/// outlive it.
class Watchdog {
 public:
  Watchdog(boost::asio::any_io_executor const& executor,
           std::chrono::duration<double> limit,
           process::ChildProcess& process)
      : timer_{executor, std::chrono::duration_cast<std::chrono::milliseconds>(limit)} {
    timer_.async_wait([&process, watching = std::weak_ptr{watching_}](auto problem) {
      if (!problem && !watching.expired()) process.kill_group();
    });
  }

 private:
  // The handler may be queued already when we go, and must then not touch the process.
  std::shared_ptr<bool> watching_ = std::make_shared<bool>(true);
  boost::asio::steady_timer timer_;
};

}  // namespace torchwatch::async
