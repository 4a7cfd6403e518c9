#pragma once

#include <string>
#include <string_view>

#include "storage/domain/incident.h"

namespace torchwatch::github {

/// A comment on an issue that was filed before; it has not been written yet.
struct CommentDraft {
  std::string report;  ///< the key of the issue it belongs to; empty: the issue is no report
  std::string marker;  ///< the body begins with it, and no other comment does
  std::string body;    ///< Markdown
};

/// The news of an event as a comment on the incident's issue. `project`: the address below which
/// commits and pull requests of the watched project are shown. Pure.
CommentDraft draft_comment(IncidentStory const& story,
                           IncidentEvent const& event,
                           std::string const& project);

/// The comment on the pull request of a culprit: what its commit made worse, with the proof, and
/// how to reproduce it. The commit is the only suspect of `finding`. Pure.
CommentDraft draft_pull_request_comment(IncidentStory const& story,
                                        Finding const& finding,
                                        std::string const& project);

/// A body without the hidden lines that it begins with.
std::string_view without_markers(std::string_view body);

/// The new version of a body that a user edited, as a comment: the user's text stays. Pure.
std::string comment_in_place_of(std::string_view body, std::string_view marker);

}  // namespace torchwatch::github
