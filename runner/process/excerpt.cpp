#include "runner/process/excerpt.h"

#include "storage/base/printable.h"

namespace torchwatch::process {

std::string excerpt(std::string_view text) {
  constexpr std::size_t most = 180;
  return printable(text, most);
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
