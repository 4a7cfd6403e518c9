#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/options.h"
#include "storage/domain/answer.h"
#include "storage/domain/incident.h"
#include "storage/domain/outbox.h"

namespace torchwatch::report {

/// The names of the destinations, as the outbox stores them.
namespace destination {
inline constexpr std::string_view github = "github";              ///< an issue
inline constexpr std::string_view file = "file";                  ///< a Markdown file
inline constexpr std::string_view webhook = "webhook";            ///< a signed JSON object
inline constexpr std::string_view email = "email";                ///< an email
inline constexpr std::string_view pull_request = "pull_request";  ///< a comment on the culprit's
}  // namespace destination

/// Returns the messages that an event makes, for each configured destination, in the order in which
/// they are sent. They are complete: what is sent later is what is stored now. `story`: as it is
/// before the event is stored, or afterwards. Pure.
///
/// | event                | GitHub                                       | file, webhook, email |
/// | -------------------- | -------------------------------------------- | -------------------- |
/// | opened               | a new issue                                  | the report           |
/// | explained, stale,    | new body, comment                            | new report; news     |
/// |   series_joined,     |                                              |                      |
/// |   partly_fixed       |                                              |                      |
/// | fix_expected         | new body                                     | new report; news     |
/// | fixed                | new body, comment, closed as completed       | new report; news     |
/// | returned             | reopened, new body, comment; stays closed    | new report; news     |
/// |                      |   after a ruling                             |                      |
/// | ruled                | new body, comment, closed as not planned     | new report; news     |
/// | answered             | comment                                      | new report; news     |
///
/// The pull request of a culprit gets a comment with the event `explained` that names its commit,
/// unless a user ruled before.
std::vector<OutboxMessage> messages_of(IncidentStory const& story,
                                       IncidentEvent const& event,
                                       config::Options const& options);

/// Returns the comment with the reply to a comment or closing. Pure.
OutboxMessage reply_to(Answer const& answer);

}  // namespace torchwatch::report
