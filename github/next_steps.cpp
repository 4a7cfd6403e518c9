#include "github/next_steps.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "github/bisection_story.h"
#include "github/commands.h"
#include "github/markdown.h"

namespace torchwatch::github {
namespace {

/// Commits whose authors are named.
constexpr std::size_t max_authors = 3;

/// Names shown of those who approved a pull request.
constexpr std::size_t max_approvers = 5;

/// The address and the token of the running service, as the documentation has them.
constexpr std::string_view of_service = "--server http://localhost:8917 --token-file token";

/// An item of the list: a sentence, and a command in a block of its own.
std::string item_with(std::string_view sentence, std::string_view command) {
  return fmt::format("- {}\n  ```sh\n  {}\n  ```\n", sentence, command);
}

std::string rule_command(std::string_view kind, IncidentId incident) {
  return fmt::format("torchwatch rule {} --incident {} --who NAME --why REASON {}",
                     kind,
                     incident.value,
                     of_service);
}

/// An item of the list: a sentence that ends with a comment to write on the issue.
std::string comment_item(std::string_view sentence, std::string_view command) {
  return fmt::format("- {} comment `{} {}`.\n", sentence, command_word, command);
}

/// The decisions about a report that is a file.
std::string ruling_items(IncidentId incident) {
  return item_with("**If the change is intended,** accept it:", rule_command("accept", incident)) +
         item_with("**If this report is wrong,** store that:",
                   rule_command("false_alarm", incident));
}

/// The decisions about a report that is an issue.
std::string comment_items(std::string const& label) {
  return comment_item("**If the change is intended,**", "accept REASON") +
         "- **If this report is wrong,** comment `/torchwatch false-alarm REASON`, or put the "
         "label " +
         verbatim(label) + " on this issue.\n" +
         comment_item("**If it is known,** and should stay quiet for two weeks,", "mute 14d");
}

/// ", or `ada`, `carl-c`, who approved it" without a mention, which would notify.
std::string approvers_of(Finding const& finding) {
  auto const& approvers = finding.approvers;
  std::string names;
  for (std::size_t i = 0; i < std::min(approvers.size(), max_approvers); ++i)
    names += verbatim(approvers[i]) + ", ";
  return names.empty() ? "" : ", or " + names + "who approved it";
}

/// "- **Ask** `Jane Doe`, the author of [`0123456789ab`](...), in https://...".
std::string author_item(Finding const& finding, std::string const& project) {
  auto const& commit = finding.suspects.front();
  auto const author = commit.author.empty() ? "" : author_name(commit) + ", ";
  auto const place =
      commit.pull_request ? ", in " + pull_request_link(commit, project) : std::string{};
  return fmt::format("- **Ask** {}the author of {}{}{}.\n",
                     author,
                     commit_link(commit.sha, project),
                     approvers_of(finding),
                     place);
}

bool has_an_author_to_ask(Finding const& finding) {
  auto const kind = kind_of(finding);
  return finding.suspects.size() == 1 && kind != FindingKind::layout &&
         kind != FindingKind::improvement;
}

/// Each commit once, though several bisections named it.
std::string author_items(IncidentStory const& story, std::string const& project) {
  std::string items;
  std::size_t count = 0;
  bool has_range = false;
  for (auto const& bisection : story.bisections) {
    for (auto const& finding : bisection.findings) {
      has_range = has_range || finding.suspects.size() > 1;
      if (count == max_authors || !has_an_author_to_ask(finding)) continue;
      auto const item = author_item(finding, project);
      if (items.find(item) != std::string::npos) continue;
      items += item;
      ++count;
    }
  }
  if (items.empty() && has_range)
    return "- **Ask** the authors of the commits under \"Bisection\".\n";
  return items;
}

/// The maintainers of the builds, where a bisection found that no commit is to blame.
std::string environment_item(IncidentStory const& story) {
  for (auto const& bisection : story.bisections) {
    if (bisection.outcome != BisectionOutcome::environment) continue;
    bool const has_differences = bisection.packages && !bisection.packages->differences.empty();
    return std::string{"- **Ask** the maintainers of the nightly builds."} +
           (has_differences ? " The builds' differences are under \"Bisection\"." : "") + "\n";
  }
  return {};
}

std::string shell_word(CommitSha const& sha) {
  return is_commit_sha(sha.hex) ? sha.hex : shell_quoted(one_line(sha.hex));
}

std::string reproduce_item(IncidentStory const& story, Series const& worst) {
  auto const threshold =
      story.bisections.empty()
          ? std::string{}
          : fmt::format(" --threshold {:g}", story.bisections.front().request.threshold);
  return item_with(
      "**To reproduce it** on your own machine, build and measure both commits:",
      fmt::format("torchwatch bisect --start {} --end {} --benchmark {} --metric {} --fleet {}{}",
                  shell_word(story.baseline.commit),
                  shell_word(story.nightly.commit),
                  shell_quoted(one_line(name_of(worst.benchmark))),
                  to_string(worst.metric),
                  shell_quoted(one_line(worst.fleet)),
                  threshold));
}

/// The ways to continue in comments, and the people who may.
std::string last_comment_items(IncidentStory const& story) {
  auto const& all = story.bisections;
  std::string items;
  if (all.empty()) items = comment_item("**To bisect it,**", "rebisect");
  if (!all.empty() && !is_active(all.back().state))
    items = comment_item("**To bisect it again,**", "rebisect");
  return items +
         "- **To see what is known now,** comment `/torchwatch status`. These commands are " +
         "for people who can write to this repository.\n";
}

std::string bisect_item(IncidentStory const& story) {
  if (story.bisections.empty())
    return item_with(
        "**To bisect it,** send a request to the service:",
        fmt::format("curl -s http://localhost:8917/api/v1/bisections -H \"Authorization: Bearer "
                    "$(cat token)\" -H 'Content-Type: application/json' -d '{{\"incident\": {}}}'",
                    story.incident.id.value));
  auto const& newest = story.bisections.back();
  if (is_active(newest.state)) return {};
  return item_with("**To bisect it again,** send a request to the service:",
                   fmt::format("torchwatch bisect --again {} {}", newest.id.value, of_service));
}

}  // namespace

std::string next_steps(IncidentStory const& story,
                       std::vector<SeriesChange> const& changes,
                       std::string const& false_alarm_label,
                       std::string const& project) {
  bool const is_issue = !false_alarm_label.empty();
  auto text = "**Next steps**\n\n" +
              (is_issue ? comment_items(false_alarm_label) : ruling_items(story.incident.id)) +
              author_items(story, project) + environment_item(story);
  if (!changes.empty()) text += reproduce_item(story, changes.front().series);
  return text + (is_issue ? last_comment_items(story) : bisect_item(story)) + "\n";
}

}  // namespace torchwatch::github
