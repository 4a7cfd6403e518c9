#pragma once

#include <set>
#include <string>

#include <ATen/record_function.h>

namespace torchwatch::worker {

/// Records the operators that run while it exists, with their overload ("aten::add.Tensor"), and
/// the backward nodes of autograd ("AddBackward0"). Only one may exist at a time.
class Dispatched {
 public:
  Dispatched();
  Dispatched(Dispatched const&) = delete;
  Dispatched& operator=(Dispatched const&) = delete;
  ~Dispatched();

  /// Returns the operators that models and optimizers call directly, and autograd's nodes for them.
  std::set<std::string> called() const;

  /// Returns the operators that other operators, nodes and autograd's engine call. Some of them may
  /// also be in `called`.
  std::set<std::string> called_in_turn() const;

  /// Returns the number of times that the host would have waited for a device: to read a scalar, as
  /// item() does, or to count nonzero elements. Copies to the host do not count, since a CPU has
  /// none.
  int waits() const;

 private:
  at::CallbackHandle callback_;
};

}  // namespace torchwatch::worker
