#pragma once

#include <string>
#include <vector>

#include "storage/domain/incident.h"

namespace torchwatch::github {

/// The list of what a maintainer can do about an incident, in Markdown: accept the change, mark a
/// false alarm, ask the authors, reproduce it, bisect it again. `changes`: those of the incident,
/// the worst first. `false_alarm_label`: the label of a false alarm; the list then shows the
/// commands of comments. If it is empty, the list shows commands of a shell. Pure.
std::string next_steps(IncidentStory const& story,
                       std::vector<SeriesChange> const& changes,
                       std::string const& false_alarm_label,
                       std::string const& project);

}  // namespace torchwatch::github
