#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "runner/processors.h"
#include "runner/protocol.h"
#include "runner/supervision.h"

namespace torchwatch::runner {

/// Measures each job in a worker process of its own and holds it to the job's limits. With more
/// than one, the workers take turns; one that fails leaves the others alone. The answers, in the
/// order of the jobs, are the workers' `result` or `error`, or an `error` about the worker:
/// `launch`, `crashed`, `timeout`, `memory` or `protocol`. Error texts name the benchmark, the
/// prefix and what happened. When this ends, also by cancellation, the workers' whole process
/// groups are dead. On a CPU they all run on the same few processors, which are theirs unless the
/// jobs say otherwise. Runs on the coroutine's executor; its thread must live as long as the
/// workers.
boost::asio::awaitable<std::vector<protocol::Message>> run_round(protocol::Round round,
                                                                 Processors processors,
                                                                 ProgressSink on_progress);

}  // namespace torchwatch::runner
