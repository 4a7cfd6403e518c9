#pragma once

#include <vector>

namespace torchwatch::runner {

/// The CPUs of this host on which a runner may run its workers.
class Processors {
 public:
  /// Returns the CPUs on which this process may run, for the runner of a fleet's `slot`. One of
  /// each core comes first, highest numbers first, because the kernel uses the lowest ones for its
  /// own work. Empty when the kernel does not report them.
  static Processors of_slot(int slot);

  /// `order`: best first.
  Processors(std::vector<int> order, int slot);

  /// Returns `count` CPUs, different ones for each slot as long as there are enough. Empty when
  /// there are fewer than `count`.
  std::vector<int> pick(int count) const;

  /// Returns the CPUs of `wanted` that are among these, best first.
  std::vector<int> among(std::vector<int> const& wanted) const;

 private:
  std::vector<int> order_;
  int slot_;
};

}  // namespace torchwatch::runner
