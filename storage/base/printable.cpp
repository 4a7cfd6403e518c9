#include "storage/base/printable.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace torchwatch {

namespace {

/// One character of a text: its number of bytes and its code point.
struct Character {
  std::size_t size = 1;
  std::uint32_t code = 0;
  bool is_valid = false;
};

/// Returns the first character by RFC 3629. Truncated, overlong and surrogate encodings are
/// invalid.
Character first_of(std::string_view text) {
  auto const byte = [&](std::size_t at) {
    return static_cast<unsigned char>(text[at]);
  };
  auto const lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  std::size_t size = 2;
  if (lead >= 0xe0) size = 3;
  if (lead >= 0xf0) size = 4;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  std::uint32_t code = lead & (0x7fU >> size);
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0U) != 0x80U) return {};
    code = code << 6U | (byte(at) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  bool const is_half = code >= 0xd800 && code <= 0xdfff;
  if (code < least.at(size) || is_half || code > 0x10ffff) return {};
  return {size, code, true};
}

/// True for characters that control a terminal or the layout instead of being shown.
bool acts(std::uint32_t code) {
  auto const within = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || within(0x7f, 0x9f) || code == 0x61c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069) || within(0xfff9, 0xfffb) ||
         within(0xe0000, 0xe007f);
}

std::string escaped(Character const& character, unsigned char byte) {
  if (character.is_valid && character.code == '\n') return "\\n";
  if (character.is_valid && character.code == '\t') return "\\t";
  std::array<char, 12> text{};
  bool const is_byte = !character.is_valid || character.code < 0x80;
  std::snprintf(text.data(),
                text.size(),
                is_byte ? "\\x%02x" : "\\u%04x",
                is_byte ? unsigned{byte} : unsigned{character.code});
  return text.data();
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  std::string shown;
  while (!text.empty()) {
    auto const character = first_of(text);
    bool const is_shown = character.is_valid && !acts(character.code);
    auto const piece = is_shown ? std::string{text.substr(0, character.size)}
                                : escaped(character, static_cast<unsigned char>(text.front()));
    if (shown.size() + piece.size() > most)
      return shown + "... (" + std::to_string(text.size()) + " bytes more)";
    shown += piece;
    text.remove_prefix(character.size);
  }
  return shown;
}

std::string printable_lines(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    auto const end = text.find('\n');
    shown += printable(text.substr(0, end), std::string::npos);
    if (end == std::string_view::npos) break;
    shown += '\n';
    text.remove_prefix(end + 1);
  }
  return shown;
}

}  // namespace torchwatch
