#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/incident.h"
#include "storage/domain/project.h"

namespace torchwatch::github {

/// GitHub's own limits, in characters. Ours are kept in bytes, which are never fewer.
inline constexpr std::size_t max_title_bytes = 256;
inline constexpr std::size_t max_body_bytes = 65536;

/// An issue that has not been filed yet.
struct IssueDraft {
  std::string key;    ///< the same incident always has the same; the body holds marker_of(key)
  std::string title;  ///< plain text, one line
  std::string body;   ///< Markdown
  std::vector<std::string> labels;
};

/// What a report says besides the incident itself.
struct ReportContext {
  std::vector<std::string> labels;
  /// Where commits and pull requests of the watched project are shown.
  std::string project = project_url;
};

/// Hexadecimal digits that identify an incident by what it is about: both trunk commits and the
/// series that moved, in any order. Row numbers do not count, so a new database does not
/// publish an old incident twice.
std::string key_of(IncidentStory const& story);

/// The HTML comment by which an issue is recognised as the report of `key`.
std::string marker_of(std::string const& key);

/// The inverse: the key of the report whose body this is; nothing when it is no report.
std::optional<std::string> key_in(std::string_view body);

/// The HTML comment by which it is seen that a text, the report of `key` or a comment on it, tells
/// what this bisection came to.
std::string marker_of(std::string const& key, Bisection const& bisection);

/// The HTML comment by which it is seen that the report of `key`, or a comment on it, has this
/// correction.
std::string marker_of_correction(std::string const& key, std::string const& correction);

/// What a person reads about an incident. Text from elsewhere is shown as it is and can neither
/// break the layout nor notify anyone; of an author only the name is shown. What GitHub would not
/// take is cut, and the body says so.
IssueDraft draft_issue(IncidentStory const& story, ReportContext const& context);

}  // namespace torchwatch::github
