#include "github/comment.h"

#include <utility>

#include <fmt/format.h>

#include "github/bisection_story.h"
#include "github/issue.h"
#include "github/life_story.h"
#include "github/markdown.h"
#include "storage/domain/words.h"

namespace torchwatch::github {
namespace {

/// Series of a proof that are listed.
constexpr std::size_t max_proofs = 8;

std::string proof_lines(Finding const& finding) {
  std::string text;
  std::size_t left_out = 0;
  std::size_t shown = 0;
  for (auto const& effect : finding.effects) {
    if (!made_worse(effect)) continue;
    if (shown == max_proofs) {
      ++left_out;
      continue;
    }
    text += "- " + series_name(effect.series) + ": " + words::evidence(effect, finding) + "\n";
    ++shown;
  }
  if (left_out > 0) text += fmt::format("- and {} more series\n", left_out);
  return text + "\n";
}

/// The command that bisects from the incident's baseline to the commit.
std::string reproduction_of(IncidentStory const& story, Finding const& finding) {
  auto const& start = story.baseline.commit;
  auto const& series = finding.effects.front().series;
  auto const& commit = finding.suspects.front().sha;
  if (!is_commit_sha(start.hex) || !is_commit_sha(commit.hex)) return {};
  return fmt::format(
      "To reproduce it, build and measure both ends:\n\n```sh\ntorchwatch bisect --start {} "
      "--end {} --benchmark {} --metric {} --fleet {}\n```\n\n",
      start.hex,
      commit.hex,
      shell_quoted(one_line(name_of(series.benchmark))),
      to_string(series.metric),
      shell_quoted(one_line(series.fleet)));
}

}  // namespace

CommentDraft draft_comment(IncidentStory const& story,
                           IncidentEvent const& event,
                           std::string const& project) {
  CommentDraft draft;
  draft.report = key_of(story);
  draft.marker = marker_of(story, event, "github comment");
  draft.body = shortened(draft.marker + "\n" + event_story(story, event, project), max_body_bytes);
  return draft;
}

CommentDraft draft_pull_request_comment(IncidentStory const& story,
                                        Finding const& finding,
                                        std::string const& project) {
  auto const& commit = finding.suspects.front();
  CommentDraft draft;
  IncidentEvent event;
  event.kind = IncidentEventKind::explained;
  event.commit = commit.sha;
  draft.marker = marker_of(story, event, "pull_request comment");
  auto const merge =
      finding.merged > 0 ? ", a merge of " + words::commits(finding.merged) : std::string{};
  auto body = fmt::format(
      "{}\nPerformance measurements of the nightly builds name {}{} as the cause of a regression "
      "in "
      "nightly {}. It was compared with its parent, side by side on one host:\n\n",
      draft.marker,
      commit_link(commit.sha, project),
      merge,
      verbatim(story.nightly.date));
  body += proof_lines(finding) + reproduction_of(story, finding) +
          "If the change is intended, nothing needs to be done here. This is the only comment.\n";
  draft.body = shortened(std::move(body), max_body_bytes);
  return draft;
}

std::string_view without_markers(std::string_view body) {
  while (body.starts_with("<!--") && body.find('\n') != std::string_view::npos)
    body.remove_prefix(body.find('\n') + 1);
  return body;
}

std::string comment_in_place_of(std::string_view body, std::string_view marker) {
  auto text =
      std::string{marker} +
      "\nThe description was edited by a user, so it is not replaced. The report is now:\n\n";
  auto const room = max_body_bytes - text.size();
  return text + folded("The report", std::string{without_markers(body)}, room);
}

}  // namespace torchwatch::github
