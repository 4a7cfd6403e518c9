#pragma once

#include <string>

#include "github/refusal.h"
#include "storage/domain/outbox.h"
#include "storage/store.h"

namespace torchwatch::report {

/// The name of an incident's report in the alarms about refusals: "incident 7".
std::string report_name(IncidentId incident);

/// The name of the report that a message belongs to: "incident 7", "alarm 3".
std::string report_name(OutboxMessage const& message);

/// Stores a request that GitHub refused as the alarm `github_refused`, whose subject is the class
/// of the refusal. A class that does not concern the whole repository is followed by `report`, such
/// as "incident 7". Does nothing with `none`. `detail`: the error, or the address of the issue.
void note_refusal(storage::Store& store,
                  github::Refusal refusal,
                  std::string const& report,
                  std::string const& detail,
                  Timestamp now);

/// Call after a report was written. Clears the alarms about the repository, about reports that
/// have ended, and about `report`.
void note_success(storage::Store& store, std::string const& report, Timestamp now);

/// Call after issues were read, which proves less than a report that was written. Clears the alarms
/// about the token and about a hidden repository, and those of `reader`, the name by which
/// note_refusal() stores a refusal to read.
void note_read(storage::Store& store, std::string const& reader, Timestamp now);

/// True while an alarm says that GitHub refuses all reports, or `report`.
bool is_refused(storage::Store& store, std::string const& report);

/// Raises an alarm or clears it, and logs that if it changes anything.
void set_alarm(storage::Store& store, bool is_wrong, Alarm const& alarm);

}  // namespace torchwatch::report
