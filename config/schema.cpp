#include <string>
#include <utility>

#include "config/describe.h"
#include "config/load.h"
#include "config/value.h"

namespace torchwatch::config {
namespace {

/// 1 rather than 1.0 where a bound is whole.
Json bound(double value) {
  auto const whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

/// The visitor that describes every field in JSON Schema.
struct SchemaWriter {
  Json properties = Json::object();

  template <Scalar T>
  void operator()(char const* key, T& field, Rule const& rule) {
    auto& schema = properties[key] = type_schema<T>();
    schema["description"] = rule.doc;
    if (rule.minimum) schema["minimum"] = bound(*rule.minimum);
    if (rule.maximum) schema["maximum"] = bound(*rule.maximum);
    if (!rule.pattern.empty()) schema["pattern"] = "^(" + std::string{rule.pattern} + ")$";
    if (rule.non_empty) schema["minLength"] = 1;
    auto fallback = to_json(field);
    if (!rule.non_empty || fallback != "") schema["default"] = std::move(fallback);
  }

  template <class T>
  void operator()(char const* key, std::vector<T>& field, Rule const& rule) {
    auto& schema = properties[key] = {{"type", "array"}, {"description", rule.doc}};
    if (rule.non_empty) schema["minItems"] = 1;
    if constexpr (Scalar<T>) {
      schema["items"] = type_schema<T>();
      schema["default"] = Json::array();
      for (auto const& element : field)
        schema["default"].push_back(to_json(element));
    } else {
      T element{};
      schema["items"] = object(element);
    }
  }

  template <class T>

  requires std::is_class_v<T> &&(!Scalar<T>)void operator()(char const* key,
                                                            T& field,
                                                            Rule const& rule) {
    auto& schema = properties[key] = object(field);
    schema["description"] = rule.doc;
  }

  template <class T>
  static Json object(T& field) {
    SchemaWriter writer;
    describe(writer, field);
    Json schema = Json::object();
    schema["type"] = "object";
    schema["additionalProperties"] = false;
    schema["properties"] = std::move(writer.properties);
    return schema;
  }
};

}  // namespace

nlohmann::ordered_json schema() {
  Options options;
  auto root = SchemaWriter::object(options);
  root["properties"]["$schema"] = {{"type", "string"}};
  root["properties"]["feed"]["required"] = {"path"};
  root["required"] = {"state_dir", "feed"};
  Json result = Json::object();
  result["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  result["title"] = "torchwatch configuration";
  result.update(root);
  return result;
}

}  // namespace torchwatch::config
