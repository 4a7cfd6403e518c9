#include "runner/suite/description/description.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

namespace torchwatch::suite {
namespace {

using nlohmann::json;

/// Returns untrusted text on one line, in ASCII, cut to 180 bytes.
std::string shown(json const& value) {
  constexpr std::size_t longest = 180;
  auto const text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

/// Returns untrusted text as `shown`, but without the quotes.
std::string shown_text(std::string const& text) {
  auto const quoted = shown(json(text));
  return quoted.substr(1, quoted.size() - (quoted.ends_with('"') ? 2 : 1));
}

bool is_whole(json const& value, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) return false;
  // The library would convert 2^64 - 1 to -1.
  if (value.is_number_unsigned())
    return std::cmp_less_equal(value.get<std::uint64_t>(), most) &&
           std::cmp_greater_equal(value.get<std::uint64_t>(), least);
  auto const number = value.get<std::int64_t>();
  return number >= least && number <= most;
}

template <class Value>
std::string words_of(std::map<std::string, Value> const& words) {
  std::string all;
  for (auto const& [word, value] : words)
    all += (all.empty() ? "" : ", ") + word;
  return all;
}

/// Reads one object of the file. Its place in the file is in the error messages.
class Reader {
 public:
  Reader(json const& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) refuse("", shown(object), "an object");
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
      refuse(shown_text(key), "an unknown key", all);
    }
  }

  json const* find(std::string const& key) const {
    auto const found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  double number(std::string const& key, double fallback) const {
    auto const* const value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_number() || std::abs(value->get<double>()) > limits::number)
      refuse(key, shown(*value), "a number from -2^53 to 2^53");
    return value->get<double>();
  }

  std::int64_t count(std::string const& key) const {
    auto const* const value = find(key);
    if (value == nullptr) return 0;
    if (!is_whole(*value, 0, limits::batch))
      refuse(key, shown(*value), "a whole number up to 2^20, 0 for no such test");
    return value->get<std::int64_t>();
  }

  template <class Value>
  Value word(std::string const& key,
             std::map<std::string, Value> const& words,
             Value fallback) const {
    auto const* const value = find(key);
    if (value == nullptr) return fallback;
    auto const known = value->is_string() ? words.find(value->get<std::string>()) : words.end();
    if (known == words.end()) refuse(key, shown(*value), words_of(words));
    return known->second;
  }

  std::string const& where() const { return where_; }

 private:
  json const& object_;
  std::string where_;
};

std::vector<std::int64_t> read_shape(Reader const& reader) {
  auto const* const allowed = "a list of whole numbers from 1 to 2^36 and \"batch\", 16 at most";
  auto const* const list = reader.find("shape");
  if (list == nullptr || !list->is_array() || list->size() > limits::dimensions)
    reader.refuse("shape", list == nullptr ? "nothing" : shown(*list), allowed);
  std::vector<std::int64_t> shape;
  for (auto const& size : *list) {
    if (size == "batch")
      shape.push_back(TensorDescription::batch_size);
    else if (is_whole(size, 1, limits::elements))
      shape.push_back(size.get<std::int64_t>());
    else
      reader.refuse("shape", shown(size), allowed);
  }
  return shape;
}

void check_whole(Reader const& reader, TensorDescription const& tensor) {
  if (tensor.high <= tensor.low)
    reader.refuse("high", std::to_string(tensor.high), "more than low");
  for (auto const& [key, value] : {std::pair{"low", tensor.low}, {"high", tensor.high}})
    if (std::trunc(value) != value)
      reader.refuse(key, std::to_string(value), "a whole number for this type");
  if (tensor.type == Element::boolean && (tensor.low < 0 || tensor.high > 2))
    reader.refuse("high", std::to_string(tensor.high), "at most 2, and low at least 0, for bool");
}

TensorDescription read_tensor(Reader const& reader) {
  reader.allow_only({"high", "low", "shape", "type"});
  static std::map<std::string, Element> const types{
      {"float32", Element::float32}, {"int64", Element::int64}, {"bool", Element::boolean}};
  TensorDescription tensor;
  tensor.shape = read_shape(reader);
  tensor.type = reader.word("type", types, Element::float32);
  bool const is_whole = tensor.type != Element::float32;
  tensor.low = reader.number("low", 0);
  tensor.high = reader.number("high", is_whole ? 2 : tensor.low);
  if (is_whole)
    check_whole(reader, tensor);
  else if (tensor.high < tensor.low)
    reader.refuse("high", std::to_string(tensor.high), "more than low");
  return tensor;
}

std::string place_of(std::string const& key, std::size_t i) {
  return key + "[" + std::to_string(i) + "]";
}

std::vector<TensorDescription> read_tensors(Reader const& reader, std::string const& key) {
  std::vector<TensorDescription> tensors;
  auto const* const list = reader.find(key);
  if (list == nullptr) return tensors;
  if (!list->is_array() || list->size() > limits::tensors)
    reader.refuse(key, shown(*list), "a list of tensors, 64 at most");
  for (std::size_t i = 0; i < list->size(); ++i)
    tensors.push_back(read_tensor({(*list)[i], reader.where() + ": " + place_of(key, i)}));
  return tensors;
}

bool is_too_large(TensorDescription const& tensor, std::int64_t batch) {
  std::int64_t elements = 1;
  for (auto const size : tensor.shape) {
    auto const factor = size == TensorDescription::batch_size ? batch : size;
    if (factor > limits::elements / elements) return true;
    elements *= factor;
  }
  return false;
}

/// Checks the sizes of tensors with the larger batch.
void check_sizes(Reader const& reader,
                 std::string const& key,
                 std::vector<TensorDescription> const& tensors,
                 Batch const& batch) {
  auto const largest = std::max({batch.train, batch.eval, std::int64_t{1}});
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (is_too_large(tensors[i], largest))
      reader.refuse(place_of(key, i) + ": shape",
                    "more elements with a batch of " + std::to_string(largest),
                    "2^36 of them");
}

/// Parses JSON. Checks the depth before values are built, because destroying nested values uses
/// stack at each level.
json parse(std::string const& text, std::string const& where) {
  auto const watch = [&where](int depth, json::parse_event_t, json const&) {
    if (depth >= limits::depth)
      throw BadDescription(where + ": found more levels, allowed are " +
                           std::to_string(limits::depth));
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (json::exception const& problem) {
    throw BadDescription(where + ": not JSON: " + shown_text(problem.what()));
  }
}

Batch read_batch(Reader const& reader) {
  auto const* const batch = reader.find("batch");
  if (batch == nullptr) reader.refuse("batch", "nothing", R"({"train": 32, "eval": 8})");
  Reader const counts(*batch, reader.where() + ": batch");
  counts.allow_only({"eval", "train"});
  return {counts.count("train"), counts.count("eval")};
}

/// Reads a regular file. Opening a pipe without a writer would block.
std::string text_of(std::string const& file) {
  std::error_code ignored;
  std::ifstream stream;
  if (std::filesystem::is_regular_file(file, ignored)) stream.open(file, std::ios::binary);
  if (!stream.is_open())
    throw BadDescription(file + ": not a readable regular file; it must describe the model's file");
  std::string text(limits::bytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace

ModelDescription parse_description(std::string const& text, std::string const& where) {
  if (text.size() > limits::bytes)
    throw BadDescription(where + ": found more bytes, allowed are " +
                         std::to_string(limits::bytes));
  auto const document = parse(text, where);
  Reader const reader(document, where);
  reader.allow_only({"batch", "inputs", "labels", "learning_rate", "loss"});
  static std::map<std::string, Loss> const losses{
      {"output", Loss::output}, {"cross_entropy", Loss::cross_entropy}, {"mse", Loss::mse}};
  ModelDescription model;
  model.inputs = read_tensors(reader, "inputs");
  model.labels = read_tensors(reader, "labels");
  model.loss = reader.word("loss", losses, Loss::output);
  model.rate = reader.number("learning_rate", model.rate);
  if (model.rate < 0) reader.refuse("learning_rate", std::to_string(model.rate), "0 or more");
  if (model.inputs.empty()) reader.refuse("inputs", "nothing", "at least one tensor");
  if (model.loss != Loss::output && model.labels.empty())
    reader.refuse("labels", "nothing", "at least one tensor for this loss");
  model.batch = read_batch(reader);
  check_sizes(reader, "inputs", model.inputs, model.batch);
  check_sizes(reader, "labels", model.labels, model.batch);
  return model;
}

ModelDescription read_description(std::string const& file) {
  return parse_description(text_of(file), file);
}

}  // namespace torchwatch::suite
