#pragma once

#include <string>

/// The worker's end of the protocol. Before any library's initialisers run, the process's original
/// standard output moves to a private descriptor and descriptor 1 becomes standard error, so that
/// whatever prints cannot break it.
namespace torchwatch::worker {

/// Writes `line` and a newline to the original standard output. Throws std::system_error when
/// nobody reads it.
void send_line(std::string line);

}  // namespace torchwatch::worker
