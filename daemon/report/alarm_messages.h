#pragma once

#include <string>
#include <vector>

#include "config/options.h"
#include "storage/domain/alarm.h"
#include "storage/domain/outbox.h"

namespace torchwatch::report {

/// An alarm that is reported to all destinations, and not only listed.
struct AlarmReport {
  Alarm alarm;
  std::string title;  ///< one line
  std::string text;   ///< Markdown: what is wrong, or how it ended
};

/// Returns the messages about a new alarm, for each configured destination except pull requests: a
/// new issue or file, a signed JSON object, an email. They are complete: what is sent later is what
/// is stored now. Pure.
std::vector<OutboxMessage> messages_about_raised(AlarmReport const& report,
                                                 config::Options const& options);

/// Returns the messages about an alarm that ended at its `cleared_at`: a comment that closes the
/// issue, a new file, a signed JSON object, an email. Pure.
std::vector<OutboxMessage> messages_about_cleared(AlarmReport const& report,
                                                  config::Options const& options);

}  // namespace torchwatch::report
