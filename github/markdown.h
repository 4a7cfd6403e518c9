#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Text of other authors, made safe for a GitHub issue, and the parts of a report. Pure.
namespace torchwatch::github {

/// GitHub's own limits, in characters. Ours are kept in bytes, which are never fewer.
inline constexpr std::size_t max_title_bytes = 256;
inline constexpr std::size_t max_body_bytes = 65536;

/// Line breaks, tabs and control characters become single spaces; both ends are trimmed. Characters
/// that change the direction of writing are escaped (\u202e), and so are bytes that are not UTF-8
/// (\xff).
std::string one_line(std::string_view text);

/// Text of other authors as code, made one line by one_line(): it can neither end a table cell nor
/// start markup, a link, a reference or a mention. Empty text is shown as a dash.
std::string verbatim(std::string_view text);

/// `text` with the name alone of each absolute path in it: "see /srv/logs/a.log" becomes "see
/// a.log". Directories of a host do not belong on a public page. Addresses stay as they are.
std::string without_directories(std::string_view text);

/// `text` as one word of a POSIX shell.
std::string shell_quoted(std::string_view text);

using TableRow = std::vector<std::string>;

/// A table whose cells are Markdown already. Ends with a line break.
std::string table(TableRow const& header, std::vector<TableRow> const& rows);

/// Markdown of at most `limit` bytes: cut at the end of a line if that costs little. A text that is
/// cut ends with a sentence about GitHub's limit.
std::string shortened(std::string markdown, std::size_t limit);

/// `content` folded under a title, which is HTML. Has at most `limit` bytes, as shortened() cuts
/// the content; empty when `limit` is too small for some lines of it.
std::string folded(std::string_view title, std::string content, std::size_t limit);

/// The longest beginning of `text` that has at most `limit` bytes and cuts no code point. UTF-8
/// never has more code points than bytes, so a limit of either kind is kept.
std::string_view clip(std::string_view text, std::size_t limit);

}  // namespace torchwatch::github
