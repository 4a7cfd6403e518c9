#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/incident.h"

/// The first lines of a report, in Markdown: what changed, by how much, since which commit, and how
/// sure that is. Pure.
namespace torchwatch::github {

/// The claims of the findings of some bisections, one paragraph each, proved culprits first. At
/// most three are shown, and the text says how many more there are. Empty without findings.
std::string claims_story(std::span<Bisection const> bisections, std::string const& project);

/// The claims about an incident. Without any finding: the worst of `changes`, and the state of the
/// newest bisection. `changes`: those of the incident, the worst first. `no_bisection`: the
/// sentence for a story without bisections. Empty: that none was run.
std::string opening(IncidentStory const& story,
                    std::vector<SeriesChange> const& changes,
                    std::string const& project,
                    std::string_view no_bisection = {});

/// The series that no finding names, as a sentence that begins with a space. Empty when there are
/// none, and when there are no findings.
std::string unexplained_sentence(IncidentStory const& story,
                                 std::vector<SeriesChange> const& changes);

}  // namespace torchwatch::github
