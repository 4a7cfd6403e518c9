#pragma once

#include <functional>
#include <iosfwd>

#include "runner/protocol.h"

/// A worker's conversation with its runner, for any kind of worker. Writes with send_line(), whose
/// exceptions all functions pass on.
namespace torchwatch::worker {

/// Sends a message to the runner.
void send(protocol::Message const& message);

/// Requests the next turn of a job and waits for it on `input`. Does nothing for a job without
/// turns. Throws std::runtime_error when the input ends, ProtocolError when another message comes.
void wait_for_turn(protocol::Job const& job, std::istream& input);

/// Sends `hello`, then answers each job in `input` with the message that `run` returns, until the
/// end of input. Answers any other line with a failure.
void answer_jobs(std::istream& input,
                 protocol::Hello const& hello,
                 std::function<protocol::Message(protocol::Job const&)> const& run);

}  // namespace torchwatch::worker
