#pragma once

#include <algorithm>
#include <regex>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

/// Checks values against a JSON Schema. Supports the keywords of the configuration's schema except
/// `format`.
namespace torchwatch::config {

using SchemaJson = nlohmann::ordered_json;

bool obeys(SchemaJson const& value, SchemaJson const& schema);

inline bool is_of_type(SchemaJson const& value, std::string const& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  throw std::logic_error{"unexpected type " + type};
}

/// Checks an object whose keys are free, a map.
inline bool map_obeys(SchemaJson const& object, SchemaJson const& schema) {
  return std::all_of(object.items().begin(), object.items().end(), [&](auto const& member) {
    return obeys(member.key(), schema.at("propertyNames")) &&
           obeys(member.value(), schema.at("additionalProperties"));
  });
}

inline bool object_obeys(SchemaJson const& object, SchemaJson const& schema) {
  if (!schema.contains("properties")) return map_obeys(object, schema);
  auto const& properties = schema.at("properties");
  for (auto const& key : schema.value("required", SchemaJson::array()))
    if (!object.contains(key.get<std::string>())) return false;
  return std::all_of(object.items().begin(), object.items().end(), [&](auto const& member) {
    if (!properties.contains(member.key())) return schema.at("additionalProperties") != false;
    return obeys(member.value(), properties.at(member.key()));
  });
}

inline bool array_obeys(SchemaJson const& array, SchemaJson const& schema) {
  if (array.size() < schema.value("minItems", 0U)) return false;
  for (auto entry = array.begin(); entry != array.end(); ++entry) {
    if (!obeys(*entry, schema.at("items"))) return false;
    if (schema.value("uniqueItems", false) && std::find(array.begin(), entry, *entry) != entry)
      return false;
  }
  return true;
}

inline bool text_obeys(std::string const& text, SchemaJson const& schema) {
  if (text.size() < schema.value("minLength", 0U)) return false;
  if (text.size() > schema.value("maxLength", text.size())) return false;
  return std::regex_search(text, std::regex{schema.value("pattern", "")});
}

inline bool obeys(SchemaJson const& value, SchemaJson const& schema) {
  if (schema.contains("enum")) {
    auto const& words = schema.at("enum");
    return std::ranges::find(words, value) != words.end();
  }
  if (!is_of_type(value, schema.at("type"))) return false;
  if (value.is_object()) return object_obeys(value, schema);
  if (value.is_array()) return array_obeys(value, schema);
  if (value.is_string()) return text_obeys(value, schema);
  if (value.is_boolean()) return true;
  return value >= schema.at("minimum") && value <= schema.at("maximum");
}

}  // namespace torchwatch::config
