#pragma once

#include <iosfwd>

namespace torchwatch::worker {

/// Says hello, then answers each line of `jobs` until its end. Writes to the wire.
void serve(std::istream& jobs);

}  // namespace torchwatch::worker
