#include "runner/process/excerpt.h"

#include <algorithm>

namespace torchwatch::process {

namespace {

constexpr std::size_t longest = 200;
constexpr std::string_view ellipsis = "...";

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

}  // namespace

std::string excerpt(std::string_view text) {
  bool const whole = text.size() <= longest;
  std::string shown{whole ? text : text.substr(0, longest - ellipsis.size())};
  std::ranges::replace_if(
      shown, [](char c) { return !is_printable(c); }, '?');
  if (!whole) shown += ellipsis;
  return shown;
}

std::string last_lines(std::string_view text) {
  std::string joined;
  for (int lines = 0; lines < 3 && !text.empty();) {
    auto const newline = text.rfind('\n');
    auto const begin = newline == std::string_view::npos ? 0 : newline + 1;
    auto const line = text.substr(begin);
    text = text.substr(0, begin == 0 ? 0 : newline);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    joined = joined.empty() ? excerpt(line) : excerpt(line) + " | " + joined;
    ++lines;
  }
  return joined;
}

}  // namespace torchwatch::process
