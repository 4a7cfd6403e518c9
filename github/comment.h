#pragma once

#include <string>

#include "storage/domain/incident.h"

namespace torchwatch::github {

/// A comment on an issue that was filed before; it has not been written yet.
struct CommentDraft {
  std::string report;  ///< the key of the issue it belongs to
  std::string marker;  ///< the body holds it, and no other comment does
  std::string body;    ///< Markdown
};

/// The result of a bisection that ended after its incident was reported, in the report's own words.
/// `project`: the address below which commits and pull requests of the watched project are shown.
/// Pure.
CommentDraft draft_comment(IncidentStory const& story,
                           Bisection const& bisection,
                           std::string const& project);

/// The result of a later edition of the nightly's file, once its incident was reported. Pure.
CommentDraft draft_correction(IncidentStory const& story);

}  // namespace torchwatch::github
