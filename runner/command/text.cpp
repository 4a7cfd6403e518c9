#include "runner/command/text.h"

namespace torchwatch::command {

std::string_view trimmed(std::string_view text) {
  constexpr auto blanks = " \t\r\n\v\f";
  auto const begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string shortened(std::string_view text) {
  constexpr std::size_t most = 180;
  if (text.size() <= most) return std::string{text};
  return std::string{text.substr(0, most)} + "...";
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    auto const newline = text.find('\n');
    lines.push_back(text.substr(0, newline));
    text = newline == std::string_view::npos ? std::string_view{} : text.substr(newline + 1);
  }
  return lines;
}

std::string last_line(std::string_view text) {
  auto const rest = trimmed(text);
  auto const newline = rest.rfind('\n');
  return shortened(newline == std::string_view::npos ? rest : trimmed(rest.substr(newline)));
}

std::string joined(std::vector<std::string> const& words, std::string const& separator) {
  std::string all;
  for (auto const& word : words)
    all += (all.empty() ? "" : separator) + word;
  return all;
}

}  // namespace torchwatch::command
