#pragma once

#include <string>

#include "runner/protocol.h"

namespace torchwatch::runner {

/// What is wrong with `outcome` as the answer to `job`, for people: "a latency of -1"; empty when
/// nothing is. Workers come with other people's builds and runners run on other people's hosts, so
/// what they claim is looked at by both who pass it on: it has to be of this benchmark, with a
/// latency, with metrics that were asked for, finite, not negative and not more samples than runs.
/// Pure.
std::string check_outcome(protocol::Outcome const& outcome, protocol::Job const& job);

}  // namespace torchwatch::runner
