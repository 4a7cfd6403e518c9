#pragma once

#include <string>

#include "runner/protocol.h"

namespace torchwatch::runner {

/// Returns the first error in `outcome` as the result of `job`, for people: "a latency of -1".
/// Empty when there is none. Workers come with untrusted builds and runners run on other hosts, so
/// both the runner and the service check each result. Pure, except that it reads the declarations
/// of metrics.
///
/// The result must be of the job's benchmark, with the metrics that the job asks for and no others;
/// in the native suite, latency is required. Values are finite and, except of `leak`, not negative.
/// A metric has at most as many samples as runs or leak iterations. The service also knows the
/// declarations of suites: noisy metrics and those of which higher values are better are positive,
/// and exact ones have one sample.
std::string check_outcome(protocol::Outcome const& outcome, protocol::Job const& job);

}  // namespace torchwatch::runner
