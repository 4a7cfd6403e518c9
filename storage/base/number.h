#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace torchwatch {

/// Returns the whole number in a value of nlohmann::json. Returns nothing when the value is not a
/// whole number or does not fit into `Whole`. The library's get() also converts 1.5, 1e300, 2^63
/// and true.
template <std::integral Whole, class Json>
std::optional<Whole> whole_number_in(Json const& value) {
  if (value.is_number_unsigned()) {
    auto const number = value.template get<std::uint64_t>();
    return std::in_range<Whole>(number) ? std::optional{static_cast<Whole>(number)} : std::nullopt;
  }
  if (!value.is_number_integer()) return std::nullopt;
  auto const number = value.template get<std::int64_t>();
  return std::in_range<Whole>(number) ? std::optional{static_cast<Whole>(number)} : std::nullopt;
}

/// Returns the number that `text` consists of. Returns nothing when `text` is not a number, has
/// other characters such as leading blanks or a plus, or does not fit into `Number`.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  auto const* const end = text.data() + text.size();
  auto const [stopped, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

}  // namespace torchwatch
