#include "github/comment.h"

#include <span>
#include <utility>

#include "github/bisection_story.h"
#include "github/issue.h"
#include "github/markdown.h"
#include "github/opening.h"
#include "github/transcript.h"

namespace torchwatch::github {

CommentDraft draft_comment(IncidentStory const& story,
                           Bisection const& bisection,
                           std::string const& project) {
  CommentDraft draft;
  draft.report = key_of(story);
  draft.marker = marker_of(draft.report, bisection);
  auto body = draft.marker + "\nThis bisection ended after the regression was reported.\n\n" +
              claims_story(std::span{&bisection, 1}, project) + landings_story(bisection, project) +
              "### Bisection\n\n" + bisection_story(bisection, project);
  draft.body = shortened(std::move(body), max_body_bytes);
  auto evidence = evidence_story(bisection, project);
  if (!evidence.empty()) {
    evidence.pop_back();  // the fold ends with an empty line of its own
    draft.body += folded(
        "Statistics: levels and proofs", std::move(evidence), max_body_bytes - draft.body.size());
  }
  draft.body += transcript(bisection, project, max_body_bytes - draft.body.size());
  return draft;
}

CommentDraft draft_correction(IncidentStory const& story) {
  CommentDraft draft;
  draft.report = key_of(story);
  draft.marker = marker_of_correction(draft.report, story.incident.correction);
  draft.body = draft.marker + "\n" + story.incident.correction + "\n";
  return draft;
}

}  // namespace torchwatch::github
