#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

namespace torchwatch::suite {

enum class Test { train, eval };

/// `full`: published sizes at upstream's batch. `smoke`: the same kinds of operators, small enough
/// for one core.
enum class Scale { smoke, full };

/// How a workload is to be built. Random numbers come from LibTorch's default generators, seeded by
/// the caller.
struct Setup {
  Test test = Test::train;
  Scale scale = Scale::full;
  std::int64_t batch = 1;
  torch::Device device = torch::kCPU;

  template <class T>
  T pick(T full, T smoke) const {
    return scale == Scale::full ? full : smoke;
  }
};

/// One test of one model, ready to iterate. Owns model, batch and optimizer, all on its device. Not
/// thread-safe.
class Workload {
 public:
  virtual ~Workload() = default;

  /// One iteration. Train: gradients zeroed, forward, loss, backward, optimizer step. Eval: forward
  /// in evaluation mode without gradients. A GPU may still be busy when it returns. Throws what
  /// LibTorch throws.
  virtual void step() = 0;

  /// Train: the last step's loss, a scalar. Eval: its first output. Undefined before the first
  /// step.
  virtual torch::Tensor result() const = 0;

  /// Everything that is trained.
  virtual std::vector<torch::Tensor> parameters() const = 0;
};

}  // namespace torchwatch::suite
