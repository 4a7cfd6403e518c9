#pragma once

#include <functional>

#include <boost/asio/awaitable.hpp>

#include "runner/protocol.h"

namespace torchwatch::runner {

using ProgressSink = std::function<void(protocol::Progress const&)>;

/// Measures one job in a worker process of its own and holds it to the job's limits. The answer is
/// the worker's `result` or `error`, or an `error` about the worker: `launch`, `crashed`,
/// `timeout`, `memory` or `protocol`. Error texts name the benchmark, the prefix and what happened.
/// When this ends, also by cancellation, the worker's whole process group is dead. Runs on the
/// coroutine's executor; its thread must live as long as the worker.
boost::asio::awaitable<protocol::Message> run_job(protocol::Job job, ProgressSink on_progress);

}  // namespace torchwatch::runner
