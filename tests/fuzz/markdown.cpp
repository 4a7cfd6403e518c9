#include "github/markdown.h"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "github/issue.h"
#include "storage/base/printable.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"
#include "tests/github/stories.h"

namespace torchwatch::fuzz {
namespace {

using nlohmann::json;

/// True when the ASCII of a text is only letters, digits, blanks and references "&#N;".
bool is_referenced(std::string_view text) {
  while (!text.empty()) {
    auto const c = text.front();
    if (text.starts_with("&#")) {
      auto const end = text.find_first_not_of("0123456789", 2);
      if (end == 2 || end == std::string_view::npos || text[end] != ';') return false;
      text.remove_prefix(end + 1);
      continue;
    }
    bool const is_harmless = c < 0 || c == ' ' || (c >= '0' && c <= '9') ||
                             (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_harmless) return false;
    text.remove_prefix(1);
  }
  return true;
}

/// Checks that text shown as code cannot end the code.
void check_verbatim(std::string_view input) {
  auto const shown = github::verbatim(input);
  require(is_one_line(shown), "code is one line");
  if (shown == "-") return;
  std::string_view inside = shown;
  if (inside.starts_with('`')) {
    require(inside.size() > 2 && inside.ends_with('`'), "code is delimited on both sides");
    inside = inside.substr(1, inside.size() - 2);
    require(inside.find_first_of("`|") == std::string_view::npos, "nothing ends code or cell");
    return;
  }
  constexpr std::string_view begin = "<code>";
  constexpr std::string_view end = "</code>";
  require(inside.starts_with(begin) && inside.ends_with(end),
          "code without backticks is an element");
  inside = inside.substr(begin.size(), inside.size() - begin.size() - end.size());
  require(is_referenced(inside), "special characters are references");
}

/// Returns the text that a shell reads from a word.
std::string unquoted_by_shell(std::string_view word) {
  std::string text;
  bool is_quoted = false;
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (word[at] == '\'')
      is_quoted = !is_quoted;
    else if (!is_quoted && word[at] == '\\' && at + 1 < word.size())
      text += word[++at];
    else
      require(is_quoted, "all text is inside quotes"), text += word[at];
  }
  require(!is_quoted, "quotes are closed");
  return text;
}

/// A report in which all text by others is `text`.
github::IssueDraft report_of(std::string const& text) {
  auto story = github::hostile_story();
  auto& bisection = story.bisections.front();
  for (auto& finding : bisection.findings) {
    for (auto& suspect : finding.suspects) {
      suspect.subject = text;
      suspect.author = text;
    }
    for (auto& effect : finding.effects)
      effect.series.fleet = text;
    finding.no_revert_check = "because of " + text;
    finding.approvers = {text};
    finding.earlier = EarlierIncident{IncidentId{1}, text, ""};
  }
  for (auto& step : bisection.steps) {
    step.fleet = step.reason = step.note = text;
    step.benchmark.model = text;
    for (auto& commit : step.commits)
      commit.hex = text;
  }
  bisection.packages = Packages{{"- " + text, "+ " + text}, {story.incident.changes.front()}};
  for (auto& change : story.incident.changes)
    change.series.benchmark.model = change.series.fleet = text;
  for (auto& change : story.operators)
    change.before.name = change.after.name = text;
  story.baseline.version = story.nightly.version = story.baseline_pytorch = text;
  story.baseline.commit.hex = text;
  story.fingerprint = json{{"host", text}}.dump(-1, ' ', false, json::error_handler_t::replace);
  return github::draft_issue(story, {});
}

/// Returns the number of cells of each line. Text by others must change neither lines nor cells.
std::vector<std::ptrdiff_t> shape_of(std::string const& body) {
  std::vector<std::ptrdiff_t> cells;
  std::istringstream stream{body};
  for (std::string line; std::getline(stream, line);)
    cells.push_back(line.starts_with('|') ? std::ranges::count(line, '|') : 0);
  return cells;
}

}  // namespace

/// Text by others that an issue shows.
void markdown(std::string_view input) {
  constexpr std::size_t enough = 64;
  check_verbatim(input);
  require(is_one_line(github::one_line(input)), "one line has no line end");
  require(unquoted_by_shell(github::shell_quoted(input)) == input,
          "a shell reads quoted text back");
  auto const cut = github::clip(input, enough);
  require(cut.size() <= enough && input.starts_with(cut),
          "clipped text is a beginning of the text");
  static auto const shape = shape_of(report_of("plain").body);
  auto const draft = report_of(std::string{cut});
  require(shape_of(draft.body) == shape, "text by others keeps the layout");
  require(github::key_in(draft.body) == draft.key, "a report keeps its key");
  require(printable_lines(draft.body) == draft.body,
          "a report is UTF-8 without control characters");
  require(draft.body.size() <= github::max_body_bytes, "the body is within GitHub's limit");
  require(is_one_line(draft.title) && draft.title.size() <= github::max_title_bytes,
          "the title is within GitHub's limit");
}

}  // namespace torchwatch::fuzz
