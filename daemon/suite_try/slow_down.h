#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/suite_try/marked_processes.h"

namespace torchwatch::suite_try {

/// Lets the processes run for an eighth of the time, until it is cancelled, so that their work
/// takes eight times as long. A cycle takes 16 ms, or longer on a host with load. No process stays
/// stopped.
boost::asio::awaitable<void> slow_down(MarkedProcesses processes);

}  // namespace torchwatch::suite_try
