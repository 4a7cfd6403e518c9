#include <algorithm>
#include <sstream>
#include <string>

#include "github/commands.h"
#include "github/reply.h"
#include "storage/base/printable.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

/// The text in a block of code whose fence is longer than any row of backticks in it.
std::string in_code(std::string_view text) {
  std::string fence = "```";
  while (text.find(fence) != std::string_view::npos)
    fence += '`';
  return fence + "\n" + std::string{text} + "\n" + fence;
}

std::string in_quotation(std::string_view text) {
  std::string quoted;
  std::istringstream stream{std::string{text}};
  for (std::string line; std::getline(stream, line);)
    quoted += "> " + line + "\n";
  return quoted;
}

}  // namespace

/// A comment on a report.
void comment(std::string_view input) {
  for (auto const& line : github::command_lines(input)) {
    require(input.find(line) != std::string_view::npos, "a command is a part of its comment");
    require(line.find('\n') == std::string::npos, "a command is one line");
    auto const command = github::parse_command(line);
    if (command) continue;
    auto const reply = github::refusal_of(line, command.error());
    require(is_one_line(reply), "a refusal is one line");
    require(github::command_lines(reply).empty(), "a refusal is not a command");
  }
  require(github::command_lines(in_code(input)).empty(), "code has no commands");
  require(github::command_lines(in_quotation(input)).empty(), "a quotation has no commands");
}

}  // namespace torchwatch::fuzz
