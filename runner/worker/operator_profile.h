#pragma once

#include <vector>

#include "runner/protocol.h"
#include "runner/worker/counting_allocator.h"

namespace torchwatch::worker {

/// While it lives, every operator that LibTorch dispatches is timed on its thread. What an operator
/// calls counts for the callee alone. On CUDA this is the time of the host, which launches work and
/// does not wait for it. One at a time; made and destroyed between steps.
class OperatorProfile {
 public:
  /// `memory` must outlive it.
  explicit OperatorProfile(AllocationCount const& memory);
  ~OperatorProfile();
  OperatorProfile(OperatorProfile const&) = delete;
  OperatorProfile& operator=(OperatorProfile const&) = delete;

  /// What each operator cost so far, divided by `iterations`; by name.
  std::vector<protocol::OperatorCost> costs(int iterations) const;

 private:
  std::uint64_t callback_;
};

}  // namespace torchwatch::worker
