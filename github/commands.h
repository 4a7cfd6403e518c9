#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

/// Commands that people write in comments on a report. Pure.
namespace torchwatch::github {

enum class CommandKind { rebisect, accept, false_alarm, mute, status };

/// The word after "/torchwatch": "false-alarm".
std::string_view to_string(CommandKind kind);

/// A command of a person to the service.
struct Command {
  CommandKind kind = CommandKind::status;
  std::string reason{};  ///< for `accept` and `false_alarm`; never empty there
  /// The ends of a range to bisect, as written: commits of 40 hexadecimal digits, or dates of
  /// nightlies. Both are empty for the range of the report.
  std::string start{};
  std::string end{};
  int days = 0;  ///< for `mute`: 1 to 365
};

/// The reason why a line is not a command, for its author. Plain text.
struct CommandError {
  std::string found;
  std::string allowed;
  std::string example;  ///< a line that is a command
};

/// The first word of each command.
inline constexpr std::string_view command_word = "/torchwatch";

/// Returns the lines of a comment that begin with "/torchwatch", in their order, without it and
/// without blanks at both ends. Skips those that GitHub shows as code or as a quotation, in a list
/// or a table, and those in an HTML comment. `markdown`: the body of a comment, from anyone.
std::vector<std::string> command_lines(std::string_view markdown);

/// Reads one of command_lines().
boost::system::result<Command, CommandError> parse_command(std::string_view line);

}  // namespace torchwatch::github
