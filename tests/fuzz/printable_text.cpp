#include <algorithm>
#include <array>

#include "runner/process/excerpt.h"
#include "storage/base/printable.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

/// "... (18446744073709551615 bytes more)"
constexpr std::size_t longest_note = 37;

/// In UTF-8: of C1, U+0080 to U+009F, and of what Unicode lets turn a text around (Bidi_Control).
bool holds_acting_character(std::string_view text) {
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
  require(is_one_line(shown), "nothing shown acts on a terminal");
  require(shown.empty() || !holds_acting_character(shown), "nothing shown turns a text around");
}

}  // namespace

/// What a worker, a compiler or a page says, on its way into a log or onto a terminal.
void printable_text(std::string_view input) {
  auto const line = printable(input);
  check_shown(line);
  require(line.size() <= longest_line + longest_note, "a line is short");
  require(printable(line) == line || line.size() > longest_line, "what is shown stays as it is");
  auto const excerpt = process::excerpt(input);
  check_shown(excerpt);
  auto const last = process::last_lines(input);
  check_shown(last);
  auto lines = printable_lines(input);
  auto const given = std::ranges::count(input, '\n');
  require(std::ranges::count(lines, '\n') == given, "lines stay lines");
  std::ranges::replace(lines, '\n', ' ');
  check_shown(lines);
}

}  // namespace torchwatch::fuzz
