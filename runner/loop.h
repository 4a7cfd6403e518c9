#pragma once

#include <boost/asio/awaitable.hpp>
#include <unistd.h>

namespace torchwatch::runner {

/// The body of the runner process for a fleet's `slot`: greets, then answers the jobs on `input`
/// one at a time and in order, until the input ends or SIGINT, SIGTERM or SIGHUP comes; then it
/// kills the worker and returns at once. A line that is no job is answered with an `error` without
/// id. Returns an exit status: 0, or 1 when nobody reads the answers any more. Both descriptors are
/// duplicated, and non-blocking until it returns.
boost::asio::awaitable<int> run_runner(int slot,
                                       int input = STDIN_FILENO,
                                       int output = STDOUT_FILENO);

}  // namespace torchwatch::runner
