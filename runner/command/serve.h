#pragma once

#include <iosfwd>

namespace torchwatch::command {

/// Sends a hello, then measures and answers each job in `jobs`, until the end of input. Writes with
/// worker::send_line(), and logs to standard error. The process must ignore SIGPIPE and have called
/// process::adopt_orphans().
void serve(std::istream& jobs);

}  // namespace torchwatch::command
