#pragma once

#include <string>

#include "storage/domain/incident.h"

/// The life of an incident after its report, in Markdown. Pure.
namespace torchwatch::github {

/// The date of a nightly, "2026-12-01"; empty where the story does not hold it.
std::string date_in(IncidentStory const& story, NightlyId nightly);

/// "nightly `2026-12-01`"; "a later nightly" where the story does not hold its date.
std::string nightly_name(IncidentStory const& story, NightlyId nightly);

/// The state of an incident, as a paragraph for the first lines of its report. Empty while it is
/// open or explained, since the claim below says so.
std::string state_story(IncidentStory const& story, std::string const& project);

/// The news of an event, for a reader who knows the report: what changed, by which nightly and
/// commit, and what follows. Ends with an empty line.
std::string event_story(IncidentStory const& story,
                        IncidentEvent const& event,
                        std::string const& project);

/// All events of the story, one line each, for reports without comments. Empty before a second
/// event.
std::string history_story(IncidentStory const& story, std::string const& project);

/// The event in one plain line without markup, for a subject: "fixed in nightly 2026-12-01".
std::string headline_of(IncidentStory const& story, IncidentEvent const& event);

}  // namespace torchwatch::github
