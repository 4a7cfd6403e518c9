#include "runner/suite/description/description.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

using nlohmann::json;
using suite::Element;
using suite::ModelDescription;
using suite::TensorDescription;

/// Returns the number of elements of a tensor for a batch.
double elements_of(TensorDescription const& tensor, std::int64_t batch) {
  double elements = 1;
  for (auto const size : tensor.shape)
    elements *= static_cast<double>(size == TensorDescription::batch_size ? batch : size);
  return elements;
}

/// Checks the bounds of the random values, as LibTorch draws them.
void check_range(TensorDescription const& tensor) {
  for (auto const bound : {tensor.low, tensor.high})
    require(std::abs(bound) <= suite::limits::number, "bounds are numbers that int64 holds");
  require(tensor.low <= tensor.high, "low is not above high");
  if (tensor.type == Element::float32) return;
  auto const low = static_cast<std::int64_t>(tensor.low);
  auto const high = static_cast<std::int64_t>(tensor.high);
  require(low < high, "there is a whole number to draw");
  require(static_cast<double>(low) == tensor.low && static_cast<double>(high) == tensor.high,
          "bounds of whole numbers are whole");
}

void check_tensor(TensorDescription const& tensor, suite::Batch const& batch) {
  require(tensor.shape.size() <= suite::limits::dimensions, "there are few dimensions");
  for (auto const size : tensor.shape)
    require(size == TensorDescription::batch_size || size > 0, "dimensions are positive");
  for (auto const samples : {batch.train, batch.eval})
    require(elements_of(tensor, samples) <= static_cast<double>(suite::limits::elements),
            "elements are counted without overflow");
  check_range(tensor);
}

json as_json(std::vector<TensorDescription> const& tensors) {
  auto list = json::array();
  for (auto const& tensor : tensors) {
    auto shape = json::array();
    for (auto const size : tensor.shape)
      shape.push_back(size == TensorDescription::batch_size ? json("batch") : json(size));
    list.push_back({{"shape", shape}, {"low", tensor.low}, {"high", tensor.high}});
  }
  return list;
}

/// Checks that the model keeps the numbers of the file.
void check_kept(std::string const& text, ModelDescription const& model) {
  json const kept{{"inputs", as_json(model.inputs)},
                  {"labels", as_json(model.labels)},
                  {"learning_rate", model.rate},
                  {"batch", {{"train", model.batch.train}, {"eval", model.batch.eval}}}};
  require(agrees(json::parse(text), kept), "no number is changed");
}

void check_complaint(std::string const& complaint) {
  constexpr std::size_t longest = 1024;
  require(complaint.starts_with("model.json: "), "a complaint names the file");
  require(is_one_line(complaint) && complaint.size() <= longest, "a complaint is a short line");
}

}  // namespace

/// NAME.json, written by the author of a model.
void description(std::string_view input) {
  std::string const text{input};
  ModelDescription model;
  try {
    model = suite::parse_description(text, "model.json");
  } catch (suite::BadDescription const& problem) {
    check_complaint(problem.what());
    return;
  }
  require(!model.inputs.empty(), "a model has inputs");
  require(model.loss == suite::Loss::output || !model.labels.empty(), "a loss has its labels");
  require(model.rate >= 0, "a learning rate is not negative");
  for (auto const* const tensors : {&model.inputs, &model.labels})
    for (auto const& tensor : *tensors)
      check_tensor(tensor, model.batch);
  check_kept(text, model);
}

}  // namespace torchwatch::fuzz
