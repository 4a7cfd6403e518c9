#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/describe.h"
#include "config/load.h"
#include "config/value.h"

namespace torchwatch::config {
namespace {

void add_text_rules(Json& schema, Rule const& rule) {
  schema["type"] = "string";
  if (rule.non_empty) schema["minLength"] = 1;
  if (rule.form == Form::address)
    schema["anyOf"] = {{{"format", "ipv4"}}, {{"format", "ipv6"}}, {{"pattern", "^unix:/"}}};
  if (rule.pattern.expression.empty()) return;
  schema["maxLength"] = longest_match;
  schema["pattern"] = "^(" + std::string{rule.pattern.expression} + (rule.non_empty ? ")$" : ")?$");
}

template <Scalar T>
Json scalar_schema(Rule const& rule) {
  Json schema = Json::object();
  if constexpr (Word<T>) {
    schema["enum"] = Json::array();
    for (auto const& [word, meaning] : words(T{}))
      schema["enum"].push_back(word);
  } else if constexpr (std::same_as<T, bool>) {
    schema["type"] = "boolean";
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, Test>) {
    add_text_rules(schema, rule);
  } else {
    schema["type"] = std::floating_point<T> ? "number" : "integer";
    schema["minimum"] = bound(rule.minimum);
    schema["maximum"] = bound(rule.maximum);
  }
  return schema;
}

/// The visitor that writes the JSON Schema of all fields.
struct SchemaWriter {
  Json properties = Json::object();
  Json required = Json::array();

  template <Scalar T>
  void operator()(char const* key, T& field, Rule const& rule) {
    auto& schema = properties[key] = scalar_schema<T>(rule);
    schema["description"] = rule.doc;
    auto fallback = to_json(field);
    if (rule.non_empty && fallback == "")
      required.push_back(key);
    else
      schema["default"] = std::move(fallback);
  }

  template <class T>
  void operator()(char const* key, std::vector<T>& field, Rule const& rule) {
    auto& schema = properties[key] = {{"type", "array"}, {"description", rule.doc}};
    if (rule.non_empty) schema["minItems"] = 1;
    if (rule.distinct) schema["uniqueItems"] = true;
    if constexpr (Scalar<T>) {
      schema["items"] = scalar_schema<T>(of_entry(rule));
      schema["default"] = Json::array();
      for (auto const& element : field)
        schema["default"].push_back(to_json(element));
    } else {
      T element{};
      schema["items"] = object(element);
    }
  }

  template <class T>
  void operator()(char const* key, std::map<std::string, T>&, Rule const& rule) {
    auto& schema = properties[key] = {{"type", "object"}, {"description", rule.doc}};
    schema["propertyNames"] = scalar_schema<std::string>(of_entry(rule));
    if constexpr (Scalar<T>) {
      schema["additionalProperties"] = scalar_schema<T>(Rule{});
    } else {
      T element{};
      schema["additionalProperties"] = object(element);
    }
    schema["default"] = Json::object();  // the map is empty by default
  }

  template <Section T>
  void operator()(char const* key, T& field, Rule const& rule) {
    auto& schema = properties[key] = object(field);
    schema["description"] = rule.doc;
    if (schema.contains("required")) required.push_back(key);
  }

  template <Section T>
  static Json object(T& field) {
    SchemaWriter writer;
    describe(writer, field);
    Json schema = Json::object();
    schema["type"] = "object";
    schema["additionalProperties"] = false;
    if (!writer.required.empty()) schema["required"] = std::move(writer.required);
    schema["properties"] = std::move(writer.properties);
    return schema;
  }
};

}  // namespace

nlohmann::ordered_json schema() {
  Options options;
  auto root = SchemaWriter::object(options);
  root["properties"]["$schema"] = {{"type", "string"}};
  root["properties"]["fleets"]["default"] = show(options).at("fleets");
  root["properties"]["suites"]["default"] = show(options).at("suites");
  Json result = Json::object();
  result["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  result["title"] = "torchwatch configuration";
  result["description"] = "Relative paths are relative to the directory of the configuration file";
  result.update(root);
  return result;
}

}  // namespace torchwatch::config
