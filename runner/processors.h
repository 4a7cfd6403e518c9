#pragma once

#include <vector>

namespace torchwatch::runner {

/// The processors of this host on which a runner may put its workers.
class Processors {
 public:
  /// Those this process may run on, for the runner of a fleet's `slot`: one of each core first,
  /// highest numbers first, since the kernel does its own work on the lowest. None when the kernel
  /// does not tell.
  static Processors of_slot(int slot);

  /// `order`: best first.
  Processors(std::vector<int> order, int slot);

  /// `count` processors, others for each slot as long as there are enough. None when there are not
  /// `count` at all.
  std::vector<int> pick(int count) const;

  /// Those of `wanted` that are among them, best first.
  std::vector<int> among(std::vector<int> const& wanted) const;

 private:
  std::vector<int> order_;
  int slot_;
};

}  // namespace torchwatch::runner
