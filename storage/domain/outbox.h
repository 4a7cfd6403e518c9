#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/ids.h"

namespace torchwatch {

/// The change that a message makes at its destination.
enum class OutboxAction {
  open_issue,
  edit_body,
  comment,
  close_completed,
  close_not_planned,
  reopen,
};

std::string_view to_string(OutboxAction action);
std::optional<OutboxAction> parse_outbox_action(std::string_view text);

/// A message to one destination, as it was drafted when its event or reply was stored.
struct OutboxMessage {
  std::int64_t id = 0;      ///< in the order stored, which is the order of sending
  IncidentId incident;      ///< 0: it is about an alarm
  std::int64_t event = 0;   ///< the event that it is about; 0: it replies to a comment
  AlarmId alarm;            ///< the alarm that it is about; 0: it is about an incident
  std::string destination;  ///< "github", "file", "webhook", "email", "pull_request"
  OutboxAction action = OutboxAction::comment;
  std::string title;
  std::string body;
  std::string marker;  ///< unique: the hidden line by which the sent message is recognized
  std::vector<std::string> labels;
};

/// A message and its progress.
struct OutboxEntry {
  OutboxMessage message;
  /// When it was sent; stored before that. Absent: it never was, or the destination did nothing.
  std::optional<Timestamp> sent_at{};
  std::optional<Timestamp> done_at{};      ///< when it arrived or was given up
  int attempts = 0;                        ///< the failed ones
  std::optional<Timestamp> next_at{};      ///< no attempt before this
  std::string failure{};                   ///< why the last attempt failed
  std::string place{};                     ///< URL or path of what was made
  std::optional<Timestamp> rejected_at{};  ///< when the destination rejected it first
};

}  // namespace torchwatch
