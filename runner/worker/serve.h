#pragma once

#include <iosfwd>

namespace torchwatch::worker {

/// Says hello, then answers each line of `jobs` until its end. Writes to the wire.
void serve(std::istream& jobs);

/// The registry as JSON on one line: what a job may name.
void list_models();

}  // namespace torchwatch::worker
