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

/// What `runner` says next. Fails with unavailable when it stays silent until `deadline`, and as
/// Runner::read_line; throws as throw_if_cancelled. `runner` must outlive the coroutine.
boost::asio::awaitable<Result<std::string>> read_line(
    Runner& runner, std::chrono::steady_clock::time_point deadline);

/// `reason`, and after it what the runner or its launcher complained of last.
std::string with_last_words(std::string reason, Runner const& runner);

/// Waits for the hello of a runner that was just started. Fails with unavailable, and the runner's
/// last words, when there is none within `patience`, with corrupt when it speaks another protocol;
/// throws as throw_if_cancelled. `runner` must outlive the coroutine.
boost::asio::awaitable<Result<protocol::Hello>> hello_of(Runner& runner,
                                                         std::chrono::milliseconds patience);

}  // namespace torchwatch::measure
