#include "runner/suite/described.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace torchwatch::suite {
namespace {

using nlohmann::json;

template <class Value>
std::string words_of(std::map<std::string, Value> const& words) {
  std::string all;
  for (auto const& [word, value] : words)
    all += (all.empty() ? "" : ", ") + word;
  return all;
}

/// One object of the file, and where it is, for messages.
class Reader {
 public:
  Reader(json const& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) refuse("", object.dump(), "an object");
  }

  [[noreturn]] void refuse(std::string const& key,
                           std::string const& found,
                           std::string const& allowed) const {
    throw BadDescription(where_ + (key.empty() ? "" : ": " + key) + ": found " + found +
                         ", allowed is " + allowed);
  }

  void allow_only(std::set<std::string> const& keys) const {
    for (auto const& [key, value] : object_.items()) {
      if (keys.contains(key)) continue;
      std::string all;
      for (auto const& known : keys)
        all += (all.empty() ? "" : ", ") + known;
      refuse(key, "an unknown key", all);
    }
  }

  json const* find(std::string const& key) const {
    auto const found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  double number(std::string const& key, double fallback) const {
    auto const* const value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_number()) refuse(key, value->dump(), "a number");
    return value->get<double>();
  }

  std::int64_t count(std::string const& key) const {
    auto const* const value = find(key);
    if (value == nullptr) return 0;
    if (!value->is_number_integer() || *value < 0)
      refuse(key, value->dump(), "a whole number, 0 for no such test");
    return value->get<std::int64_t>();
  }

  template <class Value>
  Value word(std::string const& key,
             std::map<std::string, Value> const& words,
             Value fallback) const {
    auto const* const value = find(key);
    if (value == nullptr) return fallback;
    auto const known = value->is_string() ? words.find(value->get<std::string>()) : words.end();
    if (known == words.end()) refuse(key, value->dump(), words_of(words));
    return known->second;
  }

  std::string const& where() const { return where_; }

 private:
  json const& object_;
  std::string where_;
};

std::vector<std::int64_t> read_shape(Reader const& reader) {
  auto const* const allowed = "a list of whole numbers from 1 on and \"batch\"";
  auto const* const list = reader.find("shape");
  if (list == nullptr || !list->is_array())
    reader.refuse("shape", list == nullptr ? "nothing" : list->dump(), allowed);
  std::vector<std::int64_t> shape;
  for (auto const& size : *list) {
    if (size == "batch")
      shape.push_back(TensorDescription::batch_size);
    else if (size.is_number_integer() && size > 0)
      shape.push_back(size.get<std::int64_t>());
    else
      reader.refuse("shape", size.dump(), allowed);
  }
  return shape;
}

TensorDescription read_tensor(Reader const& reader) {
  reader.allow_only({"high", "low", "shape", "type"});
  static std::map<std::string, torch::Dtype> const types{
      {"float32", torch::kFloat}, {"int64", torch::kLong}, {"bool", torch::kBool}};
  TensorDescription tensor;
  tensor.shape = read_shape(reader);
  tensor.type = reader.word("type", types, torch::kFloat);
  bool const is_whole = tensor.type != torch::kFloat;
  tensor.low = reader.number("low", 0);
  tensor.high = reader.number("high", is_whole ? 2 : tensor.low);
  if (tensor.high < tensor.low || (is_whole && tensor.high <= tensor.low))
    reader.refuse("high", std::to_string(tensor.high), "more than low");
  return tensor;
}

std::vector<TensorDescription> read_tensors(Reader const& reader, std::string const& key) {
  std::vector<TensorDescription> tensors;
  auto const* const list = reader.find(key);
  if (list == nullptr) return tensors;
  if (!list->is_array()) reader.refuse(key, list->dump(), "a list of tensors");
  for (std::size_t i = 0; i < list->size(); ++i)
    tensors.push_back(
        read_tensor({(*list)[i], reader.where() + ": " + key + "[" + std::to_string(i) + "]"}));
  return tensors;
}

json parse(std::string const& file) {
  std::ifstream stream(file);
  if (!stream) throw BadDescription(file + ": cannot be read; it describes the model beside it");
  try {
    return json::parse(stream);
  } catch (json::parse_error const& problem) {
    throw BadDescription(file + ": no JSON: " + problem.what());
  }
}

}  // namespace

ModelDescription read_description(std::string const& file) {
  auto const document = parse(file);
  Reader const reader(document, file);
  reader.allow_only({"batch", "inputs", "labels", "learning_rate", "loss"});
  static std::map<std::string, Loss> const losses{
      {"output", Loss::output}, {"cross_entropy", Loss::cross_entropy}, {"mse", Loss::mse}};
  ModelDescription model;
  model.inputs = read_tensors(reader, "inputs");
  model.labels = read_tensors(reader, "labels");
  model.loss = reader.word("loss", losses, Loss::output);
  model.rate = reader.number("learning_rate", model.rate);
  if (model.inputs.empty()) reader.refuse("inputs", "nothing", "at least one tensor");
  if (model.loss != Loss::output && model.labels.empty())
    reader.refuse("labels", "nothing", "at least one tensor for this loss");
  auto const* const batch = reader.find("batch");
  if (batch == nullptr) reader.refuse("batch", "nothing", R"({"train": 32, "eval": 8})");
  Reader const counts(*batch, file + ": batch");
  counts.allow_only({"eval", "train"});
  model.batch = {counts.count("train"), counts.count("eval")};
  return model;
}

std::vector<torch::Tensor> draw(std::vector<TensorDescription> const& tensors, Setup const& setup) {
  std::vector<torch::Tensor> drawn;
  for (auto const& [shape_of_one, type, low, high] : tensors) {
    auto shape = shape_of_one;
    std::ranges::replace(shape, TensorDescription::batch_size, setup.batch);
    if (type != torch::kFloat) {
      auto const first = static_cast<std::int64_t>(low);
      auto const end = static_cast<std::int64_t>(high);
      drawn.push_back(setup.place(torch::randint(first, end, shape, torch::kLong).to(type)));
    } else if (low == 0 && high == 0) {
      drawn.push_back(setup.place(torch::randn(shape)));
    } else {
      drawn.push_back(setup.place(torch::rand(shape) * (high - low) + low));
    }
  }
  return drawn;
}

}  // namespace torchwatch::suite
