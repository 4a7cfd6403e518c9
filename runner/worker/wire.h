#pragma once

#include <string>

/// The worker's output of protocol messages. Before the initialisers of libraries run, the original
/// standard output moves to a private descriptor and descriptor 1 becomes standard error. So other
/// output of the process cannot break the protocol.
namespace torchwatch::worker {

/// Writes `line` and a newline to the original standard output. Throws std::system_error when the
/// reader has closed it.
void send_line(std::string line);

}  // namespace torchwatch::worker
