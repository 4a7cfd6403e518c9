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

/// The precision of floating point numbers. `amp`: single precision, or a shorter one that LibTorch
/// chooses for each operator that allows it.
enum class Precision { fp32, fp16, bf16, amp };

/// The options with which a workload is built. Random numbers come from LibTorch's default
/// generators, which the caller seeds.
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

  /// Returns `tensor` on the device. Floating point numbers are converted to the precision.
  torch::Tensor place(torch::Tensor const& tensor) const;

  /// Moves parameters and buffers to the device and precision. The parameters stay the same
  /// objects, so optimizers may be made before or after.
  void place(torch::nn::Module& network) const;
};

/// One test of one model, ready to iterate. Owns model, batch and optimizer, all on its device. Not
/// thread-safe.
class Workload {
 public:
  virtual ~Workload() = default;

  /// Runs one iteration. Train: gradients zeroed, forward, loss, backward, optimizer step. Eval:
  /// forward in evaluation mode without gradients. A GPU may still be busy when it returns. Throws
  /// the errors of LibTorch.
  virtual void step() = 0;

  /// Returns the results of the last step. Train: only its loss, a scalar. Eval: all outputs, at
  /// least one.
  virtual std::vector<torch::Tensor> results() const = 0;

  /// Returns a module with all parameters and buffers of the model. Their names are those of the
  /// reference implementation if the model's file says so.
  virtual std::shared_ptr<torch::nn::Module> network() const = 0;

  /// Returns the inputs of an iteration, as far as the model provides them. The next step uses the
  /// values that are written into these tensors.
  virtual std::vector<torch::Tensor> inputs() const { return {}; }
};

}  // namespace torchwatch::suite
