#pragma once

/// The description of a model in a file: NAME.json next to NAME.pt or NAME.pt2. It has the facts
/// that the model's file lacks. It is untrusted, like the model, so everything is checked.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "runner/catalogue/catalogue.h"

namespace torchwatch::suite {

/// The type of a tensor's elements.
enum class Element { float32, int64, boolean };

/// The shape and distribution of a random tensor. Floating point numbers are uniform in [low,
/// high), or normal when both are 0. Whole numbers are uniform in [low, high), which must be whole.
struct TensorDescription {
  std::vector<std::int64_t> shape;  ///< `batch_size` stands for the batch
  Element type = Element::float32;
  double low = 0;
  double high = 0;

  static constexpr std::int64_t batch_size = -1;
};

/// The loss of a training step.
enum class Loss {
  output,         ///< the first output is the loss itself
  cross_entropy,  ///< cross entropy of the first output and the first label
  mse,            ///< mean squared error of the first output and the first label
};

/// The inputs, training and batches of a model in a file.
struct ModelDescription {
  std::vector<TensorDescription> inputs;
  std::vector<TensorDescription> labels;
  Loss loss = Loss::output;
  double rate = 1e-3;  ///< learning rate of Adam
  Batch batch;         ///< 0: the model does not have that test
};

/// The limits of a description. Real models are orders of magnitude below.
namespace limits {

inline constexpr std::size_t bytes = std::size_t{64} << 10;  ///< size of the file
inline constexpr int depth = 16;
inline constexpr std::size_t tensors = 64;  ///< number of inputs, and of labels
inline constexpr std::size_t dimensions = 16;
inline constexpr std::int64_t elements = std::int64_t{1} << 36;  ///< per tensor, with its batch
inline constexpr std::int64_t batch = std::int64_t{1} << 20;
/// Largest absolute value of low, high and the learning rate. Up to here, doubles represent every
/// whole number.
inline constexpr double number = std::int64_t{1} << 53;

}  // namespace limits

/// The error of a description. Its text is one line: where, what was found, and what is allowed.
class BadDescription : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a text such as
///
///     {"inputs": [{"shape": ["batch", 3, 224, 224]},
///                 {"shape": ["batch", 128], "type": "int64", "high": 30522}],
///      "labels": [{"shape": ["batch"], "type": "int64", "high": 1000}],
///      "loss": "cross_entropy", "learning_rate": 1e-3,
///      "batch": {"train": 32, "eval": 8}}
///
/// `labels`, `loss` and `learning_rate` are only for training. Throws BadDescription, whose text
/// begins with `where`.
ModelDescription parse_description(std::string const& text, std::string const& where);

/// Reads the description in a regular file. Throws BadDescription, also when the file cannot be
/// read.
ModelDescription read_description(std::string const& file);

}  // namespace torchwatch::suite
