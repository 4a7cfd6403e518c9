#pragma once

#include <string>
#include <vector>

#include "storage/domain/outbox.h"

namespace torchwatch::github {

/// The report of an incident as it was filed, in Markdown: title and last description of the issue,
/// then its comments, oldest first, each after a line "---". Without an issue: the file. Has the
/// stored texts byte by byte. A description that became a comment, because a user had edited the
/// one before, is that comment. Leaves out messages that were not delivered. Empty before any was.
/// `messages`: those of the incident, in the order of ids. Pure.
std::string filed_report(std::vector<OutboxEntry> const& messages);

}  // namespace torchwatch::github
