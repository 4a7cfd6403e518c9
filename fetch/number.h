#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace torchwatch::fetch {

/// A decimal number that is all of `text`; nothing when it is not, or does not fit.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  auto const* const end = text.data() + text.size();
  auto const [stopped, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

}  // namespace torchwatch::fetch
