#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "github/markdown.h"
#include "storage/domain/alarm.h"
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
  /// The sentence for an incident without bisections, see opening(). Empty: that none was run.
  std::string no_bisection{};
  /// A hidden line by which a new version of the body is recognized. Empty: none.
  std::string marker{};
};

/// Hexadecimal digits that identify an incident by its contents when it was opened: both trunk
/// commits and the series that changed, in any order. Row numbers do not count, so a new database
/// does not publish an old incident twice. Returns the stored key if there is one, since more
/// series may have joined.
std::string key_of(IncidentStory const& story);

/// Hexadecimal digits that identify an alarm that is reported: its kind, its subject, and when it
/// was raised.
std::string key_of(Alarm const& alarm);

/// The HTML comment by which an issue is recognised as the report of `key`.
std::string marker_of(std::string const& key);

/// The inverse: the key of the report with this body; nothing when it is not a report.
std::optional<std::string> key_in(std::string_view body);

/// The HTML comment that marks a message on an event of the incident. `purpose`: the destination
/// and the action, of which an event has one message each. Neither times nor row numbers count. So
/// a database that was restored from a backup, and stores the event again, recognizes the message.
std::string marker_of(IncidentStory const& story,
                      IncidentEvent const& event,
                      std::string_view purpose);

/// Returns the marker of an event in a body; empty without one.
std::string_view event_marker_in(std::string_view body);

/// The HTML comment that marks a later message about the report of `key`.
std::string marker_for(std::string const& key, std::string_view purpose);

/// The digits in such a marker; empty for other text.
std::string_view digits_in(std::string_view marker);

/// The digest by which a body is recognized as unchanged. Line breaks and blanks at the end, which
/// GitHub's editor changes, do not count.
std::string digest_of_body(std::string_view body);

/// The report on an incident. Text of other authors is shown verbatim: it can neither break the
/// layout nor notify anyone. Authors are shown without their addresses. A body that is longer than
/// GitHub's limit is cut, and says so.
IssueDraft draft_issue(IncidentStory const& story, ReportContext const& context);

}  // namespace torchwatch::github
