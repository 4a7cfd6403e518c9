#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace torchwatch {

/// The whole number that a value of nlohmann::json is; nothing when it is none, or one that
/// `Whole` cannot hold. The library's own get() makes whole numbers of 1.5, 1e300, 2^63 and true.
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

/// The number that the whole of `text` is, without leading blanks or a plus; nothing when it is
/// none, or one that `Number` cannot hold.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  auto const* const end = text.data() + text.size();
  auto const [stopped, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

}  // namespace torchwatch
