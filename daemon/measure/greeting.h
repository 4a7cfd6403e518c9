#pragma once

#include <chrono>
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

/// Waits for the hello of a runner that was just started. Fails with unavailable and the runner's
/// last error output, when there is none within `patience`. Fails with corrupt when it uses another
/// protocol. Throws as throw_if_cancelled does. `runner` must outlive the coroutine.
boost::asio::awaitable<Result<protocol::Hello>> hello_of(Runner& runner,
                                                         std::chrono::milliseconds patience);

}  // namespace torchwatch::measure
