#pragma once

#include <vector>

#include "runner/protocol.h"
#include "runner/worker/counting_allocator.h"

namespace torchwatch::worker {

/// Times every operator that LibTorch dispatches while it exists, on the operator's thread. The
/// time of an operator excludes the operators that it calls. On CUDA it is the time of the host,
/// which launches work without waiting for it. Only one may exist at a time. It must be constructed
/// and destroyed between steps.
class OperatorProfile {
 public:
  /// `memory` must outlive it.
  explicit OperatorProfile(AllocationCount const& memory);
  ~OperatorProfile();
  OperatorProfile(OperatorProfile const&) = delete;
  OperatorProfile& operator=(OperatorProfile const&) = delete;

  /// Returns the cost of each operator so far, divided by `iterations`, sorted by name.
  std::vector<protocol::OperatorCost> costs(int iterations) const;

 private:
  std::uint64_t callback_;
};

}  // namespace torchwatch::worker
