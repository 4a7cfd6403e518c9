#pragma once

#include <iosfwd>

#include "runner/worker/device.h"

namespace torchwatch::worker {

/// Says hello, then answers each line of `jobs`, measured on `devices`, until its end. Writes to
/// the wire.
void serve(std::istream& jobs, Devices const& devices);

}  // namespace torchwatch::worker
