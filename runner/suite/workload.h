#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/torch.h>

namespace torchwatch::suite {

enum class Test { train, eval };

/// `full`: published sizes at upstream's batch. `smoke`: the same kinds of operators, small enough
/// for one core.
enum class Scale { smoke, full };

/// What floating point numbers are made of. `amp`: single precision, and LibTorch chooses a shorter
/// one for each operator that bears it.
enum class Precision { fp32, fp16, bf16, amp };

/// How a workload is to be built. Random numbers come from LibTorch's default generators, seeded by
/// the caller.
struct Setup {
  Test test = Test::train;
  Scale scale = Scale::full;
  std::int64_t batch = 1;
  torch::Device device = torch::kCPU;
  Precision precision = Precision::fp32;

  template <class T>
  T pick(T full, T smoke) const {
    return scale == Scale::full ? full : smoke;
  }

  /// `tensor` on the device; one of floating point numbers in the precision.
  torch::Tensor place(torch::Tensor const& tensor) const;

  /// Moves parameters and buffers to where `place` puts tensors. The parameters stay the same
  /// objects, so optimizers may be made before or after.
  void place(torch::nn::Module& network) const;
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

  /// Of the last step. Train: its loss alone, a scalar. Eval: all outputs, at least one.
  virtual std::vector<torch::Tensor> results() const = 0;

  /// Holds all parameters and buffers of the model, named as in its reference implementation where
  /// the model's file says so.
  virtual std::shared_ptr<torch::nn::Module> network() const = 0;

  /// What an iteration reads, as far as the model tells: what is written into these tensors is what
  /// the next step works on.
  virtual std::vector<torch::Tensor> inputs() const { return {}; }
};

}  // namespace torchwatch::suite
