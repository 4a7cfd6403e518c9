#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "github/commands.h"
#include "github/comment.h"

/// Texts that answer a person on a report. Pure.
namespace torchwatch::github {

/// True for a comment that this program wrote: it begins with one of its markers.
bool has_own_marker(std::string_view comment);

/// The comment that answers comment `id` on a report, or with a negative `id` the closing of its
/// issue. Without the key of the report. `text`: Markdown.
CommentDraft draft_reply(std::int64_t id, std::string const& text);

/// The problem of a line of command_lines(), in Markdown.
std::string refusal_of(std::string_view line, CommandError const& error);

/// The question to a person who closed a report without a reason that counts, in Markdown.
std::string question_after_closing(std::string const& who);

}  // namespace torchwatch::github
