#include "github/markdown.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "storage/base/printable.h"

namespace torchwatch::github {
namespace {

bool is_ascii_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// Every ASCII sign as a character reference, which no Markdown syntax can see.
std::string referenced(std::string_view text) {
  std::string safe;
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte >= 0x80U || c == ' ' || is_ascii_letter_or_digit(c)) {
      safe += c;
    } else {
      safe.append("&#").append(std::to_string(byte)).append(";");
    }
  }
  return safe;
}

void append_row(std::string& text, TableRow const& cells) {
  text += '|';
  for (auto const& cell : cells)
    text.append(" ").append(cell).append(" |");
  text += '\n';
}

/// True when an absolute path begins at `at`: a "/" at the start, or after a character that is not
/// part of a word or an address, and before a name.
bool begins_path(std::string_view text, std::size_t at) {
  constexpr std::string_view before = " \t\r\n\"'`([{|=:,;";
  constexpr std::string_view no_name = " \t\r\n/";
  if (text[at] != '/' || at + 1 == text.size()) return false;
  if (no_name.find(text[at + 1]) != std::string_view::npos) return false;
  return at == 0 || before.find(text[at - 1]) != std::string_view::npos;
}

/// The last name of an absolute path.
std::string_view name_of_file(std::string_view path) {
  while (path.ends_with('/'))
    path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

bool continues_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte > 0x20U && byte != 0x7FU) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  return printable(line, std::string::npos);
}

std::string verbatim(std::string_view text) {
  auto const line = one_line(text);
  if (line.empty()) return "-";
  // A pipe would end a table's cell and a backtick the code; HTML can show both. GitHub looks for
  // mentions in neither.
  if (line.find_first_of("`|") == std::string::npos) return "`" + line + "`";
  return "<code>" + referenced(line) + "</code>";
}

std::string without_directories(std::string_view text) {
  constexpr std::string_view after = " \t\r\n\"'`)]}<>|:,;";
  std::string kept;
  std::size_t at = 0;
  while (at < text.size()) {
    if (!begins_path(text, at)) {
      kept += text[at++];
      continue;
    }
    auto const end = std::min(text.size(), text.find_first_of(after, at));
    kept += name_of_file(text.substr(at, end - at));
    at = end;
  }
  return kept;
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (char const c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string table(TableRow const& header, std::vector<TableRow> const& rows) {
  std::string text;
  append_row(text, header);
  append_row(text, TableRow(header.size(), "---"));
  for (auto const& row : rows)
    append_row(text, row);
  return text;
}

std::string shortened(std::string markdown, std::size_t limit) {
  if (markdown.size() <= limit) return markdown;
  auto const note =
      fmt::format("\n\n*Cut here: GitHub accepts at most {} characters.*\n", max_body_bytes);
  auto kept = clip(markdown, limit - note.size());
  auto const line_end = kept.rfind('\n');
  if (line_end != std::string_view::npos && line_end > kept.size() / 2)
    kept = kept.substr(0, line_end);
  return std::string{kept} + note;
}

std::string folded(std::string_view title, std::string content, std::size_t limit) {
  constexpr std::size_t least = 300;
  auto const head = fmt::format("<details><summary>{}</summary>\n\n", title);
  constexpr std::string_view foot = "\n</details>\n\n";
  auto const frame = head.size() + foot.size();
  if (limit < frame + std::min(least, content.size())) return {};
  return head + shortened(std::move(content), limit - frame).append(foot);
}

std::string_view clip(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && continues_code_point(text[limit]))
    --limit;
  return text.substr(0, limit);
}

}  // namespace torchwatch::github
