#pragma once

#include <string>

#include "storage/base/clock.h"
#include "storage/domain/build.h"
#include "tests/lab/material.h"
#include "tests/lab/plan.h"

namespace torchwatch::lab {

/// Returns "Subject (#N)", or for a revert `Revert "Subject (#N)"`.
std::string subject_of(Step const& step, Change const& change);

/// Returns the whole message of a trunk commit, with PyTorch's trailers. `reverted` is the commit
/// that a revert reverts; other steps ignore it.
std::string message_of(Step const& step, Change const& change, CommitSha const& reverted);

/// Returns "YYYY-MM-DD nightly release (<trunk commit>)".
std::string nightly_message(std::chrono::sys_days day, CommitSha const& trunk);

}  // namespace torchwatch::lab
