#pragma once

#include <vector>

namespace torchwatch::runner {

/// The CPUs of this host on which a runner may run its workers.
class Processors {
 public:
  /// Returns the CPUs on which this process may run, for the runner of one of its host's `slots`.
  /// One of each core comes first, highest numbers first, because the kernel uses the lowest ones
  /// for its own work. Empty when the kernel does not report them.
  static Processors of_slot(int slot, int slots = 1);

  /// `order`: best first.
  Processors(std::vector<int> order, int slot, int slots = 1);

  /// Returns `count` CPUs, different ones for each slot as long as there are enough. Empty when
  /// there are fewer than `count`.
  std::vector<int> pick(int count) const;

  /// Returns all CPUs but those that other slots pick, for work that is not measured.
  std::vector<int> spare(int count) const;

  /// Returns the CPUs of `wanted` that are among these, best first.
  std::vector<int> among(std::vector<int> const& wanted) const;

 private:
  std::vector<int> picked_by(int slot, int count) const;

  std::vector<int> order_;
  int slot_;
  int slots_;
};

}  // namespace torchwatch::runner
