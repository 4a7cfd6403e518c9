#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "github/markdown.h"
#include "storage/domain/incident.h"
#include "storage/domain/project.h"

namespace torchwatch::github {

/// An issue that has not been filed yet.
struct IssueDraft {
  std::string key;    ///< the same incident always has the same; the body holds marker_of(key)
  std::string title;  ///< plain text, one line
  std::string body;   ///< Markdown
  std::vector<std::string> labels;
};

/// The parts of a report that do not come from the incident.
struct ReportContext {
  std::vector<std::string> labels;
  /// The address below which commits and pull requests of the watched project are shown.
  std::string project = project_url;
  /// The label that marks a false alarm. Empty: the report names a command instead.
  std::string false_alarm_label{};
};

/// Hexadecimal digits that identify an incident by its contents: both trunk commits and the series
/// that changed, in any order. Row numbers do not count, so a new database does not publish an old
/// incident twice.
std::string key_of(IncidentStory const& story);

/// The HTML comment by which an issue is recognised as the report of `key`.
std::string marker_of(std::string const& key);

/// The inverse: the key of the report with this body; nothing when it is not a report.
std::optional<std::string> key_in(std::string_view body);

/// The HTML comment that marks a text, the report of `key` or a comment on it, as one with the
/// result of this bisection.
std::string marker_of(std::string const& key, Bisection const& bisection);

/// The HTML comment that marks the report of `key`, or a comment on it, as one with this
/// correction.
std::string marker_of_correction(std::string const& key, std::string const& correction);

/// The report on an incident. Text of other authors is shown verbatim: it can neither break the
/// layout nor notify anyone. Authors are shown without their addresses. A body that is longer than
/// GitHub's limit is cut, and says so.
IssueDraft draft_issue(IncidentStory const& story, ReportContext const& context);

}  // namespace torchwatch::github
