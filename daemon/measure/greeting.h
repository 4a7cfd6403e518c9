#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "daemon/measure/runner.h"
#include "runner/protocol.h"
#include "storage/base/result.h"

/// The beginning of a conversation with a runner. Single-threaded, on the caller's executor.
namespace torchwatch::measure {

/// Throws boost::system::system_error with operation_aborted when `error` is `cancelled`.
void throw_if_cancelled(Error const& error);

/// Returns the runner's next line. Fails with unavailable when it stays silent until `deadline`,
/// and as Runner::read_line does; throws as throw_if_cancelled does. `runner` must outlive the
/// coroutine.
boost::asio::awaitable<Result<std::string>> read_line(
    Runner& runner, std::chrono::steady_clock::time_point deadline);

/// Returns `reason`, followed by the last error output of the runner or its launcher.
std::string with_last_words(std::string reason, Runner const& runner);

/// Waits a moment for the end of a lost runner, because launchers report the cause when they end.
/// Then returns as with_last_words does. `runner` must outlive the coroutine.
boost::asio::awaitable<std::string> with_final_words(std::string reason, Runner& runner);

/// The time limits for the hello of a runner.
struct GreetingLimits {
  /// From the start, or from the moment in which a launcher that was queued got a host.
  std::chrono::milliseconds hello;
  /// In the queue of the launcher's scheduler.
  std::chrono::milliseconds queue;
};

using OnQueued = std::function<void()>;

/// Waits for the hello of a runner that was just started. Calls `on_queued`, unless it is empty,
/// when the launcher reports that it waits in a queue. Fails with unavailable and the runner's last
/// error output, when there is no hello within the limits. Fails with corrupt when it uses another
/// protocol. Throws as throw_if_cancelled does. `runner` and `on_queued` must outlive the
/// coroutine.
boost::asio::awaitable<Result<protocol::Hello>> hello_of(Runner& runner,
                                                         GreetingLimits limits,
                                                         OnQueued const& on_queued);

}  // namespace torchwatch::measure
