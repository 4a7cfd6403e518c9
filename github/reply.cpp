#include "github/reply.h"

#include <fmt/format.h>

#include "github/markdown.h"

namespace torchwatch::github {

bool has_own_marker(std::string_view comment) {
  return comment.starts_with("<!-- torchwatch-");
}

CommentDraft draft_reply(std::int64_t id, std::string const& text) {
  CommentDraft draft;
  draft.marker = fmt::format("<!-- torchwatch-answer: {} -->", id);
  draft.body = draft.marker + "\n" + shortened(text, max_body_bytes - draft.marker.size() - 1);
  return draft;
}

std::string refusal_of(std::string_view line, CommandError const& error) {
  return fmt::format("{} was not understood. Found: {}. Allowed: {}. Example: `{}`.",
                     verbatim(std::string{command_word} + " " + std::string{line}),
                     verbatim(error.found),
                     error.allowed,
                     error.example);
}

std::string question_after_closing(std::string const& who) {
  return verbatim(who) +
         " closed this issue. No reason was given by a person who can write to this repository, so "
         "nothing was stored. Is the change intended? "
         "Then comment `/torchwatch accept REASON`. Is this report wrong? Then comment "
         "`/torchwatch false-alarm REASON`. Otherwise, the series stay under watch.";
}

}  // namespace torchwatch::github
