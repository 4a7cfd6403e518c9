#include <algorithm>
#include <array>

#include "runner/process/excerpt.h"
#include "storage/base/printable.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

/// The length of "... (18446744073709551615 bytes more)".
constexpr std::size_t longest_note = 37;

/// True when UTF-8 text holds a C1 control (U+0080 to U+009F) or a character of Bidi_Control, which
/// reverses text.
bool holds_control_character(std::string_view text) {
  constexpr std::array<std::string_view, 12> turning{"\u061c",
                                                     "\u200e",
                                                     "\u200f",
                                                     "\u202a",
                                                     "\u202b",
                                                     "\u202c",
                                                     "\u202d",
                                                     "\u202e",
                                                     "\u2066",
                                                     "\u2067",
                                                     "\u2068",
                                                     "\u2069"};
  auto const stands_in = [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  for (auto at = text.find('\xc2'); at < text.size() - 1; at = text.find('\xc2', at + 1))
    if (static_cast<unsigned char>(text[at + 1]) < 0xa0) return true;
  return std::ranges::any_of(turning, stands_in);
}

void check_shown(std::string_view shown) {
  require(is_one_line(shown), "printed text has no control character");
  require(shown.empty() || !holds_control_character(shown),
          "printed text has no character that reverses text");
}

}  // namespace

/// Text of a worker, a compiler or a page that a log or terminal shows.
void printable_text(std::string_view input) {
  auto const line = printable(input);
  check_shown(line);
  require(line.size() <= longest_line + longest_note, "a line is short");
  require(printable(line) == line || line.size() > longest_line,
          "printable text is not changed again");
  auto const excerpt = process::excerpt(input);
  check_shown(excerpt);
  auto const last = process::last_lines(input);
  check_shown(last);
  auto lines = printable_lines(input);
  auto const given = std::ranges::count(input, '\n');
  require(std::ranges::count(lines, '\n') == given, "the number of lines stays");
  std::ranges::replace(lines, '\n', ' ');
  check_shown(lines);
}

}  // namespace torchwatch::fuzz
