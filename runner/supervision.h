#pragma once

#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>

#include "runner/process/child_process.h"
#include "runner/protocol.h"
#include "runner/turns.h"

namespace torchwatch::runner {

using ProgressSink = std::function<void(protocol::Progress const&)>;

/// The reason why there is no outcome: code and text of the `error` to send.
struct Fault {
  std::string code;
  std::string text;
};

template <class T>
using Received = boost::system::result<T, Fault>;

/// A worker that was just started.
struct Started {
  process::ChildProcess& process;
  bool is_sandboxed;
};

/// Runs `job` on a worker that was just started. Returns its outcome, or the reason why there is
/// none. Enforces the job's limits of time and memory, and a fixed limit of processes. Each timed
/// run waits for the worker's turn at `slot`. The caller must end the worker afterwards. All
/// arguments must outlive the coroutine.
boost::asio::awaitable<Received<protocol::Outcome>> supervise(protocol::Job const& job,
                                                              ProgressSink const& on_progress,
                                                              TurnSlot& slot,
                                                              Started worker);

}  // namespace torchwatch::runner
