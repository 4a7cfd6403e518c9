#pragma once

#include <set>
#include <string>

#include <ATen/record_function.h>

namespace torchwatch::worker {

/// Which operators run while it lives, with their overload: "aten::add.Tensor", and the backward
/// nodes of autograd: "AddBackward0". One at a time.
class Dispatched {
 public:
  Dispatched();
  Dispatched(Dispatched const&) = delete;
  Dispatched& operator=(Dispatched const&) = delete;
  ~Dispatched();

  /// What models and optimizers call themselves, and the nodes that autograd makes of it.
  std::set<std::string> called() const;

  /// What operators, nodes and autograd's engine call in turn, whether it is also called or not.
  std::set<std::string> called_in_turn() const;

  /// How often the host would have waited for numbers of a device: for a scalar, as item() does, or
  /// for how many elements are not 0. Copies to the host are not among them, since on a CPU there
  /// are none.
  int waits() const;

 private:
  at::CallbackHandle callback_;
};

}  // namespace torchwatch::worker
