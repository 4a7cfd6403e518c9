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

/// Why there is no outcome: code and text of the `error` that will say so.
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

/// Has a worker that was just started do `job`, and holds it to the job's limits of time and
/// memory, and all workers to that of processes: its outcome, or why there is none. Each timed run
/// waits for the worker's turn at `seat`. The caller ends the worker afterwards. All arguments must
/// outlive the coroutine.
boost::asio::awaitable<Received<protocol::Outcome>> supervise(protocol::Job const& job,
                                                              ProgressSink const& on_progress,
                                                              TurnSlot& seat,
                                                              Started worker);

}  // namespace torchwatch::runner
