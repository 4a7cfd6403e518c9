#include "storage/domain/outbox.h"

namespace torchwatch {

std::string_view to_string(OutboxAction action) {
  switch (action) {
    case OutboxAction::open_issue:
      return "open_issue";
    case OutboxAction::edit_body:
      return "edit_body";
    case OutboxAction::comment:
      return "comment";
    case OutboxAction::close_completed:
      return "close_completed";
    case OutboxAction::close_not_planned:
      return "close_not_planned";
    case OutboxAction::reopen:
      return "reopen";
  }
  return "unknown";
}

std::optional<OutboxAction> parse_outbox_action(std::string_view text) {
  for (auto const action : {OutboxAction::open_issue,
                            OutboxAction::edit_body,
                            OutboxAction::comment,
                            OutboxAction::close_completed,
                            OutboxAction::close_not_planned,
                            OutboxAction::reopen})
    if (text == to_string(action)) return action;
  return std::nullopt;
}

}  // namespace torchwatch
