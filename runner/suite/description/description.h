#pragma once

/// What a model's file does not say of itself: NAME.json next to NAME.pt or NAME.pt2. Whoever made
/// the model wrote it, so nothing of it is believed.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "runner/catalogue/catalogue.h"

namespace torchwatch::suite {

/// What a tensor is made of.
enum class Element { float32, int64, boolean };

/// How a tensor is drawn. Floating point numbers are uniform in [low, high), or normal when both
/// are 0; whole numbers are uniform in [low, high), which are whole then.
struct TensorDescription {
  std::vector<std::int64_t> shape;  ///< `batch_size` stands for the batch
  Element type = Element::float32;
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

/// As far as a description may go. Models that are measured stay orders of magnitude below.
namespace limits {

inline constexpr std::size_t bytes = std::size_t{64} << 10;  ///< of the file
inline constexpr int depth = 16;
inline constexpr std::size_t tensors = 64;  ///< of inputs, and of labels
inline constexpr std::size_t dimensions = 16;
inline constexpr std::int64_t elements = std::int64_t{1} << 36;  ///< of a tensor, batch and all
inline constexpr std::int64_t batch = std::int64_t{1} << 20;
/// Of low, high and the learning rate, either side of 0: up to here doubles hold every whole
/// number.
inline constexpr double number = std::int64_t{1} << 53;

}  // namespace limits

/// Says in one line what, where, found and allowed.
class BadDescription : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads text like
///
///     {"inputs": [{"shape": ["batch", 3, 224, 224]},
///                 {"shape": ["batch", 128], "type": "int64", "high": 30522}],
///      "labels": [{"shape": ["batch"], "type": "int64", "high": 1000}],
///      "loss": "cross_entropy", "learning_rate": 1e-3,
///      "batch": {"train": 32, "eval": 8}}
///
/// `labels`, `loss` and `learning_rate` are for training alone. Throws BadDescription, which begins
/// with `where`.
ModelDescription parse_description(std::string const& text, std::string const& where);

/// The same of a regular file. Throws BadDescription when that cannot be read, too.
ModelDescription read_description(std::string const& file);

}  // namespace torchwatch::suite
