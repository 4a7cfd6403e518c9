#include "bisect/git/encoding.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include <iconv.h>

namespace torchwatch::bisect {
namespace {

/// The value that iconv_open() returns when it fails.
auto* const no_converter =
    reinterpret_cast<iconv_t>(std::intptr_t{-1});  // NOLINT(performance-no-int-to-ptr)
constexpr auto conversion_failed = static_cast<std::size_t>(-1);

/// Returns nothing when `text` is invalid in the converter's character set.
std::optional<std::string> converted(std::string text, iconv_t converter) {
  constexpr std::size_t longest_character = 4;  // bytes in UTF-8
  std::string utf8((text.size() + 1) * longest_character, '\0');
  char* from = text.data();
  char* to = utf8.data();
  std::size_t left = text.size();
  std::size_t room = utf8.size();
  if (iconv(converter, &from, &left, &to, &room) == conversion_failed) return std::nullopt;
  // Flushes a character that is still buffered in the converter.
  if (iconv(converter, nullptr, nullptr, &to, &room) == conversion_failed) return std::nullopt;
  utf8.resize(utf8.size() - room);
  return utf8;
}

}  // namespace

std::string utf8_of(std::string text, std::string const& encoding) {
  if (encoding.empty()) return text;
  auto* const converter = iconv_open("UTF-8", encoding.c_str());
  if (converter == no_converter) return text;
  auto const utf8 = converted(text, converter);
  iconv_close(converter);
  return utf8.value_or(text);
}

}  // namespace torchwatch::bisect
