#include "github/commands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include <cmark-gfm.h>

#include "storage/base/date.h"
#include "storage/base/number.h"
#include "storage/domain/build.h"

namespace torchwatch::github {
namespace {

using ParsedCommand = boost::system::result<Command, CommandError>;

constexpr std::string_view line_blanks = " \t\r";
constexpr int most_muted_days = 365;

std::string_view without_blanks(std::string_view text) {
  auto const begin = text.find_first_not_of(line_blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(line_blanks) - begin + 1);
}

/// The lines of a text, with their "\r".
std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool begins_with_command(std::string_view line) {
  if (!line.starts_with(command_word)) return false;
  return line.size() == command_word.size() ||
         line_blanks.find(line[command_word.size()]) != std::string_view::npos;
}

/// A word that does not occur in `text`.
std::string unused_word(std::string_view text) {
  std::string word = "torchwatchline";
  while (text.find(word) != std::string_view::npos)
    word += 'x';
  return word;
}

/// The text with `word` and the number of its line in place of each "/torchwatch" that begins one.
/// Neither begins anything else in Markdown, so all other structure stays.
std::string with_marked_lines(std::vector<std::string_view> const& lines, std::string const& word) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto line = lines[i];
    if (begins_with_command(line)) {
      text += word + std::to_string(i) + ' ';
      line.remove_prefix(command_word.size());
    }
    text.append(line) += '\n';
  }
  return text;
}

struct FreeTree {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
};

struct FreeWalk {
  void operator()(cmark_iter* walk) const { cmark_iter_free(walk); }
};

/// True for text that stands in a paragraph or a heading of the document itself: not in code,
/// emphasis, a link, a quotation or a list.
bool is_plain_text(cmark_node* node) {
  if (cmark_node_get_type(node) != CMARK_NODE_TEXT) return false;
  auto* const block = cmark_node_parent(node);
  auto const kind = cmark_node_get_type(block);
  // A line of dashes below a command makes it a heading: people end comments with a signature.
  return (kind == CMARK_NODE_PARAGRAPH || kind == CMARK_NODE_HEADING) &&
         cmark_node_get_type(cmark_node_parent(block)) == CMARK_NODE_DOCUMENT;
}

/// The number of the line that with_marked_lines() marked, if plain text begins with its mark.
std::optional<std::size_t> marked_line(cmark_node* node, std::string const& word) {
  if (!is_plain_text(node)) return {};
  std::string_view text = cmark_node_get_literal(node);
  if (!text.starts_with(word)) return {};
  text.remove_prefix(word.size());
  return parse_number<std::size_t>(text.substr(0, text.find(' ')));
}

std::string known_commands() {
  return "rebisect [A..B], accept REASON, false-alarm REASON, mute 14d, status";
}

/// An example line with the words of a command.
std::string example_of(std::string_view words) {
  return std::string{command_word} + " " + std::string{words};
}

bool is_end_of_range(std::string_view text) {
  return is_commit_sha(text) || day_of(text).has_value();
}

ParsedCommand parse_range(std::string_view rest) {
  Command command{CommandKind::rebisect};
  if (rest.empty()) return command;
  auto const dots = rest.find("..");
  auto const start = rest.substr(0, dots);
  auto const end = dots == std::string_view::npos ? std::string_view{} : rest.substr(dots + 2);
  if (!is_end_of_range(start) || !is_end_of_range(end) || start == end)
    return CommandError{std::string{rest},
                        "nothing, or two different ends with two dots between them; each end is "
                        "the 40 hexadecimal digits of a commit, or the date of a nightly",
                        example_of("rebisect 2026-01-01..2026-01-02")};
  command.start = start;
  command.end = end;
  return command;
}

ParsedCommand parse_decision(CommandKind kind, std::string_view reason, std::string_view example) {
  if (reason.empty())
    return CommandError{std::string{to_string(kind)} + " without a reason",
                        "a reason on the same line",
                        example_of(example)};
  return Command{kind, std::string{reason}};
}

ParsedCommand parse_mute(std::string_view rest) {
  auto const days = rest.ends_with('d') ? parse_number<int>(rest.substr(0, rest.size() - 1))
                                        : std::optional<int>{};
  if (days.value_or(0) >= 1 && *days <= most_muted_days)
    return Command{CommandKind::mute, {}, {}, {}, *days};
  return CommandError{rest.empty() ? "mute without a number of days" : std::string{rest},
                      "1d to 365d",
                      example_of("mute 14d")};
}

ParsedCommand parse_status(std::string_view rest) {
  if (rest.empty()) return Command{CommandKind::status};
  return CommandError{std::string{rest}, "nothing after status", example_of("status")};
}

}  // namespace

std::string_view to_string(CommandKind kind) {
  switch (kind) {
    case CommandKind::rebisect:
      return "rebisect";
    case CommandKind::accept:
      return "accept";
    case CommandKind::false_alarm:
      return "false-alarm";
    case CommandKind::mute:
      return "mute";
    case CommandKind::status:
      break;
  }
  return "status";
}

std::vector<std::string> command_lines(std::string_view markdown) {
  std::vector<std::string> commands;
  auto const lines = lines_in(markdown);
  if (std::ranges::none_of(lines, begins_with_command)) return commands;
  auto const word = unused_word(markdown);
  auto const text = with_marked_lines(lines, word);
  std::unique_ptr<cmark_node, FreeTree> const tree{
      cmark_parse_document(text.data(), text.size(), CMARK_OPT_DEFAULT | CMARK_OPT_VALIDATE_UTF8)};
  std::unique_ptr<cmark_iter, FreeWalk> const walk{cmark_iter_new(tree.get())};
  for (auto event = cmark_iter_next(walk.get()); event != CMARK_EVENT_DONE;
       event = cmark_iter_next(walk.get())) {
    if (event != CMARK_EVENT_ENTER) continue;
    auto const line = marked_line(cmark_iter_get_node(walk.get()), word);
    if (line && *line < lines.size())
      commands.emplace_back(without_blanks(lines[*line].substr(command_word.size())));
  }
  return commands;
}

ParsedCommand parse_command(std::string_view line) {
  auto const end = std::min(line.find_first_of(line_blanks), line.size());
  auto const name = line.substr(0, end);
  auto const rest = without_blanks(line.substr(end));
  if (name == "rebisect") return parse_range(rest);
  if (name == "accept")
    return parse_decision(CommandKind::accept, rest, "accept the new check is worth its cost");
  if (name == "false-alarm")
    return parse_decision(CommandKind::false_alarm, rest, "false-alarm the host was busy");
  if (name == "mute") return parse_mute(rest);
  if (name == "status") return parse_status(rest);
  return CommandError{name.empty() ? "no command" : std::string{name},
                      known_commands(),
                      example_of("accept the new check is worth its cost")};
}

}  // namespace torchwatch::github
