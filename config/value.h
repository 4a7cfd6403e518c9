#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/options.h"
#include "config/rule.h"

/// The JSON form of each type of field.
namespace torchwatch::config {

using Json = nlohmann::ordered_json;

// The words of enumerations.
constexpr auto words(FeedKind) {
  return std::array{std::pair{"directory", FeedKind::directory},
                    std::pair{"git", FeedKind::git},
                    std::pair{"wheels", FeedKind::wheels},
                    std::pair{"libtorch", FeedKind::libtorch}};
}

constexpr auto words(IsolationWish) {
  return std::array{std::pair{"best", IsolationWish::best}, std::pair{"none", IsolationWish::none}};
}

constexpr auto words(Scale) {
  return std::array{std::pair{"smoke", Scale::smoke}, std::pair{"full", Scale::full}};
}

constexpr auto words(Precision) {
  return std::array{std::pair{"fp32", Precision::fp32},
                    std::pair{"fp16", Precision::fp16},
                    std::pair{"bf16", Precision::bf16},
                    std::pair{"amp", Precision::amp}};
}

constexpr auto words(Tf32) {
  return std::array{std::pair{"default", Tf32::as_pytorch},
                    std::pair{"on", Tf32::on},
                    std::pair{"off", Tf32::off}};
}

constexpr auto words(Device) {
  return std::array{std::pair{"cpu", Device::cpu}, std::pair{"cuda", Device::cuda}};
}

constexpr auto words(Better) {
  return std::array{std::pair{"lower", Better::lower}, std::pair{"higher", Better::higher}};
}

constexpr auto words(MetricNoise) {
  return std::array{std::pair{"noisy", MetricNoise::noisy}, std::pair{"exact", MetricNoise::exact}};
}

constexpr auto words(BuildNeeds) {
  return std::array{std::pair{"libtorch", BuildNeeds::libtorch},
                    std::pair{"python", BuildNeeds::python}};
}

constexpr auto words(Prior) {
  return std::array{std::pair{"uniform", Prior::uniform}, std::pair{"paths", Prior::paths}};
}

constexpr auto words(LogLevel) {
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
concept Scalar = Word<T> || Duration<T> || std::is_arithmetic_v<T> ||
    std::same_as<T, std::string> || std::same_as<T, Test>;

/// A field that is a JSON object.
template <class T>
concept Section = std::is_class_v<T> && !Scalar<T>;

/// Returns a value of the file for a message, as one short line.
std::string found(Json const& json);

/// Returns a bound as JSON: a whole number as 1, not 1.0.
Json bound(double value);

/// Returns the allowed texts of a rule for a message.
std::string allowed_text(Rule const& rule);

template <Scalar T>
Json to_json(T const& value) {
  if constexpr (Word<T>) {
    for (auto const& [word, meaning] : words(T{}))
      if (meaning == value) return word;
    return nullptr;
  } else if constexpr (Duration<T>) {
    return value.count();
  } else if constexpr (std::same_as<T, Test>) {
    return to_string(value);
  } else {
    return value;
  }
}

/// Returns the allowed values for a message: "a whole number from 1 to 9", "one of \"cpu\",
/// \"cuda\"".
template <Scalar T>
std::string allowed(Rule const& rule) {
  if constexpr (Word<T>) {
    std::string text;
    for (auto const& [word, meaning] : words(T{}))
      text.append(text.empty() ? "one of \"" : ", \"").append(word).append("\"");
    return text;
  } else if constexpr (std::same_as<T, bool>) {
    return "true or false";
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, Test>) {
    return allowed_text(rule);
  } else {
    std::string const kind = std::floating_point<T> ? "a number from " : "a whole number from ";
    return kind + bound(rule.minimum).dump() + " to " + bound(rule.maximum).dump();
  }
}

/// True when `json` is a number of type `T` within the bounds of its rule.
template <class T>
bool is_number_for(Json const& json, Rule const& rule) {
  if (std::floating_point<T> ? !json.is_number() : !json.is_number_integer()) return false;
  auto const number = json.get<double>();
  return number >= rule.minimum && number <= rule.maximum;
}

/// Stores `json` in `value`. Returns false and changes nothing when it has another type or is out
/// of bounds. Does not check texts against their rule.
template <Scalar T>
bool from_json(Json const& json, Rule const& rule, T& value) {
  if constexpr (Word<T>) {
    auto const all = words(T{});
    auto const found =
        std::find_if(all.begin(), all.end(), [&](auto const& pair) { return json == pair.first; });
    if (found == all.end()) return false;
    value = found->second;
  } else if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) return false;
    value = json.get<bool>();
  } else if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) return false;
    value = json.get<std::string>();
  } else if constexpr (std::same_as<T, Test>) {
    auto const test = json.is_string() ? parse_test(json.get<std::string>()) : std::nullopt;
    if (!test) return false;
    value = *test;
  } else {
    if (!is_number_for<T>(json, rule)) return false;
    if constexpr (Duration<T>)
      value = T{json.get<std::int64_t>()};
    else
      value = json.get<T>();
  }
  return true;
}

}  // namespace torchwatch::config
