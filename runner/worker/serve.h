#pragma once

#include <iosfwd>

#include "runner/worker/device.h"

namespace torchwatch::worker {

/// Sends a hello, then measures and answers each job in `jobs` on `devices`, until the end of
/// input. Writes with send_line().
void serve(std::istream& jobs, Devices const& devices);

}  // namespace torchwatch::worker
