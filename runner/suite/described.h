#pragma once

/// Models that come as files instead of C++: what the file does not say of itself stands beside it,
/// in NAME.json next to NAME.pt or NAME.pt2.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "runner/suite/registry.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite {

/// How a tensor is drawn. Floating point numbers are uniform in [low, high), or normal when both
/// are 0; whole numbers are uniform in [low, high).
struct TensorDescription {
  std::vector<std::int64_t> shape;  ///< `batch_size` stands for the batch
  torch::Dtype type = torch::kFloat;
  double low = 0;
  double high = 0;

  static constexpr std::int64_t batch_size = -1;
};

enum class Loss {
  output,         ///< the first output is the loss itself
  cross_entropy,  ///< of the first output and the first label
  mse,            ///< mean squared error of the same
};

struct ModelDescription {
  std::vector<TensorDescription> inputs;
  std::vector<TensorDescription> labels;
  Loss loss = Loss::output;
  double rate = 1e-3;  ///< of Adam
  Batch batch;         ///< 0: no such test
};

/// Says what, where, found and allowed.
class BadDescription : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a file like
///
///     {"inputs": [{"shape": ["batch", 3, 224, 224]},
///                 {"shape": ["batch", 128], "type": "int64", "high": 30522}],
///      "labels": [{"shape": ["batch"], "type": "int64", "high": 1000}],
///      "loss": "cross_entropy", "learning_rate": 1e-3,
///      "batch": {"train": 32, "eval": 8}}
///
/// `labels`, `loss` and `learning_rate` are for training alone. Throws BadDescription.
ModelDescription read_description(std::string const& file);

/// A batch of `tensors`, drawn from LibTorch's default generator and placed.
std::vector<torch::Tensor> draw(std::vector<TensorDescription> const& tensors, Setup const& setup);

/// A TorchScript file. Throws c10::Error when it cannot be read or does not take the inputs.
std::unique_ptr<Workload> make_script(std::string const& file,
                                      ModelDescription const& description,
                                      Setup const& setup);

/// Whether this LibTorch runs AOTInductor packages.
bool has_aoti();

/// An AOTInductor package, compiled for the batch and device it is run with. Evaluation only.
/// Throws c10::Error when it cannot be read.
std::unique_ptr<Workload> make_aoti(std::string const& file,
                                    ModelDescription const& description,
                                    Setup const& setup);

}  // namespace torchwatch::suite
