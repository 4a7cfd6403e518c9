#pragma once

#include <string>

#include "runner/protocol.h"

namespace torchwatch::runner {

/// Returns the first error in `outcome` as the result of `job`, for people: "a latency of -1".
/// Empty when there is none. Workers come with untrusted builds and runners run on other hosts, so
/// both the runner and the service check each result. It must be of the job's benchmark and have a
/// latency. Metrics must be known, finite and, except `leak`, not negative, with at most as many
/// samples as runs. Pure.
std::string check_outcome(protocol::Outcome const& outcome, protocol::Job const& job);

}  // namespace torchwatch::runner
