#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/options.h"

/// How one value of each type that a field may have looks in JSON.
namespace torchwatch::config {

using Json = nlohmann::ordered_json;

// The words of closed sets.
inline constexpr auto words(FeedKind) {
  return std::array{std::pair{"directory", FeedKind::directory}, std::pair{"git", FeedKind::git}};
}

inline constexpr auto words(Scale) {
  return std::array{std::pair{"smoke", Scale::smoke}, std::pair{"full", Scale::full}};
}

inline constexpr auto words(Device) {
  return std::array{std::pair{"cpu", Device::cpu}, std::pair{"cuda", Device::cuda}};
}

inline constexpr auto words(Test) {
  return std::array{std::pair{"train", Test::train}, std::pair{"eval", Test::eval}};
}

inline constexpr auto words(LogLevel) {
  return std::array{std::pair{"debug", LogLevel::debug},
                    std::pair{"info", LogLevel::info},
                    std::pair{"warning", LogLevel::warning},
                    std::pair{"error", LogLevel::error}};
}

template <class T>
concept Word = std::is_enum_v<T>;

template <class T>
concept Duration = requires(T value) {
  { value.count() } -> std::convertible_to<std::int64_t>;
};

/// A field that is one JSON value: neither an object nor a list.
template <class T>
concept Scalar = Word<T> || Duration<T> || std::is_arithmetic_v<T> || std::same_as<T, std::string>;

template <Word T>
Json to_json(T value) {
  for (auto const& [word, meaning] : words(T{}))
    if (meaning == value) return word;
  return nullptr;
}

template <Duration T>
Json to_json(T value) {
  return value.count();
}

template <class T>

requires std::is_arithmetic_v<T> || std::same_as<T, std::string> Json to_json(T const& value) {
  return value;
}

/// {"type": ...} of JSON Schema.
template <Scalar T>
Json type_schema() {
  if constexpr (Word<T>) {
    Json all = Json::array();
    for (auto const& [word, meaning] : words(T{}))
      all.push_back(word);
    return {{"enum", all}};
  } else if constexpr (std::same_as<T, std::string>) {
    return {{"type", "string"}};
  } else if constexpr (std::floating_point<T>) {
    return {{"type", "number"}};
  } else {
    return {{"type", "integer"}};
  }
}

/// What a person is told may stand here: "a whole number", "one of \"cpu\", \"cuda\"".
template <Scalar T>
std::string allowed() {
  if constexpr (Word<T>) {
    std::string text = "one of";
    for (auto const& [word, meaning] : words(T{}))
      text.append(text.back() == 'f' ? " \"" : ", \"").append(word).append("\"");
    return text;
  } else if constexpr (std::same_as<T, std::string>) {
    return "a text";
  } else if constexpr (std::floating_point<T>) {
    return "a number";
  } else {
    return "a whole number";
  }
}

/// Stores what `json` says in `value`; false, and nothing changed, when it is of another type or
/// too large.
template <Scalar T>
bool from_json(Json const& json, T& value) {
  if constexpr (Word<T>) {
    for (auto const& [word, meaning] : words(T{})) {
      if (json == word) {
        value = meaning;
        return true;
      }
    }
    return false;
  } else if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) return false;
    value = json.get<std::string>();
    return true;
  } else if constexpr (std::floating_point<T>) {
    if (!json.is_number()) return false;
    value = json.get<T>();
    return true;
  } else {
    bool const too_large =
        json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX};
    if (!json.is_number_integer() || too_large) return false;
    auto const number = json.get<std::int64_t>();
    if constexpr (Duration<T>) {
      value = T{number};
    } else {
      if (!std::in_range<T>(number)) return false;
      value = static_cast<T>(number);
    }
    return true;
  }
}

}  // namespace torchwatch::config
