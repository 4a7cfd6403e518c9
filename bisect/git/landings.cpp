#include "bisect/git/landings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "bisect/git/commit_message.h"
#include "storage/domain/project.h"

namespace torchwatch::bisect {
namespace {

std::string_view first_line(std::string_view message) {
  return message.substr(0, message.find('\n'));
}

std::string_view stripped(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  auto const first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Compares without regard to case. `lower_case` has no capital letter.
bool begins_with(std::string_view text, std::string_view lower_case) {
  return text.size() >= lower_case.size() &&
         std::ranges::equal(text.substr(0, lower_case.size()), lower_case, {}, lower);
}

/// Removes "(#N)" at the end.
bool drop_number(std::string_view& title) {
  constexpr std::string_view begin = " (#";
  auto const open = title.rfind(begin);
  if (open == std::string_view::npos) return false;
  if (title.find_first_not_of("0123456789", open + begin.size()) != title.size() - 1) return false;
  if (!title.ends_with(')')) return false;
  title.remove_suffix(title.size() - open);
  return true;
}

bool drop_quotes(std::string_view& title) {
  if (title.size() < 2 || !title.starts_with('"') || !title.ends_with('"')) return false;
  title = title.substr(1, title.size() - 2);
  return true;
}

bool drop_closing_quote(std::string_view& title) {
  if (!title.ends_with('"')) return false;
  title.remove_suffix(1);
  return true;
}

/// Removes a mark of a reland at the beginning: "[reland 2]", "Reland of".
bool drop_mark(std::string_view& title) {
  auto const bracket = title.find(']');
  if (bracket != std::string_view::npos &&
      (begins_with(title, "[reland") || begins_with(title, "[re-land"))) {
    title.remove_prefix(bracket + 1);
    return true;
  }
  constexpr std::array<std::string_view, 5> marks{
      "reland:", "reland of ", "reland ", "re-land ", "reapply "};
  auto const* const mark = std::ranges::find_if(
      marks, [&title](std::string_view one) { return begins_with(title, one); });
  if (mark == marks.end()) return false;
  title.remove_prefix(mark->size());
  return true;
}

/// Removes `Revert "Revert "` and the closing quotes, with numbers between them.
bool drop_double_revert(std::string_view& title) {
  constexpr std::string_view begin = "revert \"revert \"";
  if (!begins_with(title, begin)) return false;
  title.remove_prefix(begin.size());
  while (drop_number(title) || drop_closing_quote(title))
    title = stripped(title);
  return true;
}

/// The title of a change: its subject without marks of reverts and relands, and without numbers.
std::string_view title_of(std::string_view subject) {
  constexpr std::size_t longest = 1000;  // each iteration below reads all of it
  auto title = stripped(subject.substr(0, longest));
  while (drop_number(title) || drop_quotes(title) || drop_mark(title) || drop_double_revert(title))
    title = stripped(title);
  return title;
}

/// True when a line contains `mark`, a text that ends with a number, and no further digit after it.
bool has_number(std::string_view line, std::string_view mark) {
  for (auto at = line.find(mark); at != std::string_view::npos; at = line.find(mark, at + 1)) {
    auto const after = line.substr(at + mark.size());
    if (after.empty() || after.front() < '0' || after.front() > '9') return true;
  }
  return false;
}

/// True when a line contains "#N" or "pull/N" with this number.
bool names(std::string_view line, int pull_request) {
  auto const number = std::to_string(pull_request);
  return has_number(line, "#" + number) || has_number(line, "pull/" + number);
}

bool says_reland(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at)
    if (begins_with(line.substr(at), "reland") || begins_with(line.substr(at), "re-land"))
      return true;
  return false;
}

/// True when a line of the message states that it relands this pull request.
bool relands(std::string_view message, int pull_request) {
  while (!message.empty()) {
    auto const line = first_line(message);
    if (names(line, pull_request) && says_reland(line)) return true;
    message.remove_prefix(std::min(message.size(), line.size() + 1));
  }
  return false;
}

/// The title between the quotes of `Revert "..."`.
std::string_view reverted_title(std::string_view message) {
  auto const subject = first_line(message);
  auto const begin = subject.find('"');
  auto const end = subject.rfind('"');
  if (begin == std::string_view::npos || end == begin) return {};
  return title_of(subject.substr(begin + 1, end - begin - 1));
}

/// True when the message reverts `commit`: it names the commit, else the pull request, else the
/// title.
bool reverts(std::string_view message, Commit const& commit) {
  auto const revert = revert_of(message);
  if (!revert) return false;
  if (revert->commit) return *revert->commit == commit.sha;
  if (revert->pull_request && commit.pull_request)
    return revert->pull_request == commit.pull_request;
  auto const title = reverted_title(message);
  return !title.empty() && title == title_of(commit.subject);
}

bool is_letter(char c) {
  return lower(c) >= 'a' && lower(c) <= 'z';
}

/// True when the line has one of the words, in any case, that begin with `stems`: "fix", "fixes".
bool has_word(std::string_view line, std::span<std::string_view const> stems) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (at > 0 && is_letter(line[at - 1])) continue;
    auto const rest = line.substr(at);
    if (std::ranges::any_of(stems, [&](std::string_view stem) { return begins_with(rest, stem); }))
      return true;
  }
  return false;
}

/// "owner/name#N" for the URL of an issue; empty for another address.
std::string short_name_of_issue(std::string_view url) {
  constexpr std::string_view middle = "/issues/";
  auto const end = url.rfind(middle);
  if (end == std::string_view::npos) return {};
  auto const repository = url.substr(0, end);
  auto const slash = repository.rfind('/');
  auto const begin = slash == std::string_view::npos || slash == 0
                         ? std::string_view::npos
                         : repository.rfind('/', slash - 1);
  if (begin == std::string_view::npos) return {};
  return std::string{repository.substr(begin + 1)} + "#" +
         std::string{url.substr(end + middle.size())};
}

bool is_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// True when a word of the line has at least ten digits and `sha` begins with them.
bool names_commit(std::string_view line, CommitSha const& sha) {
  constexpr std::size_t fewest_digits = 10;
  while (!line.empty()) {
    auto const* const end = std::ranges::find_if_not(line, is_hexadecimal);
    auto const digits = line.substr(0, static_cast<std::size_t>(end - line.begin()));
    if (digits.size() >= fewest_digits && std::string_view{sha.hex}.starts_with(digits))
      return true;
    line.remove_prefix(std::max<std::size_t>(digits.size(), 1));
  }
  return false;
}

/// True when a line says that it fixes the issue.
bool fixes_issue(std::string_view line, std::string const& issue) {
  constexpr std::array<std::string_view, 3> stems{"fix", "close", "resolve"};
  auto const name = short_name_of_issue(issue);
  if (name.empty() || !has_word(line, stems)) return false;
  if (has_number(line, issue) || has_number(line, name)) return true;
  bool const is_in_project = issue.starts_with(std::string{project_url} + "/issues/");
  return is_in_project && has_number(line, " " + name.substr(name.find('#')));
}

/// True when a line says that it fixes what the commit did.
bool fixes_commit(std::string_view line, Commit const& commit) {
  constexpr std::array<std::string_view, 1> stems{"fix"};
  if (!has_word(line, stems)) return false;
  bool const names_change = commit.pull_request && names(line, *commit.pull_request);
  return names_change || names_commit(line, commit.sha);
}

Commit commit_of(Landing const& landing) {
  Commit commit;
  commit.sha = landing.sha;
  commit.subject = first_line(landing.message);
  commit.pull_request = pull_request_of(landing.message);
  return commit;
}

}  // namespace

void RevertFinder::add(Landing const& landing) {
  auto const& message = landing.message;
  if (!revert_) {
    if (reverts(message, landed_)) revert_ = commit_of(landing);
  } else if (lands_again(message, culprit_)) {
    landed_ = commit_of(landing);
    revert_.reset();
  } else if (reverts(message, *revert_)) {
    revert_.reset();
  }
}

std::optional<CommitSha> standing_revert(Commit const& culprit, std::vector<Landing> const& later) {
  RevertFinder finder{culprit};
  for (auto const& landing : later)
    finder.add(landing);
  return finder.revert() ? std::optional{finder.revert()->sha} : std::nullopt;
}

bool says_fixed(std::string_view message, Defect const& defect) {
  if (defect.culprit && lands_again(message, *defect.culprit)) return false;
  while (!message.empty()) {
    auto const line = first_line(message);
    bool const fixes_it = (!defect.issue.empty() && fixes_issue(line, defect.issue)) ||
                          (defect.culprit && fixes_commit(line, *defect.culprit));
    if (fixes_it) return true;
    message.remove_prefix(std::min(message.size(), line.size() + 1));
  }
  return false;
}

FixFinder::FixFinder(Defect defect) : defect_{std::move(defect)} {
  if (defect_.culprit) revert_.emplace(*defect_.culprit);
}

void FixFinder::add(std::vector<Landing> const& later) {
  for (auto const& landing : later) {
    if (revert_) revert_->add(landing);
    if (fix_ && reverts(landing.message, *fix_))
      fix_.reset();
    else if (!fix_ && says_fixed(landing.message, defect_))
      fix_ = commit_of(landing);
  }
}

std::optional<CommitSha> FixFinder::fix() const {
  if (revert_ && revert_->revert()) return revert_->revert()->sha;
  return fix_ ? std::optional{fix_->sha} : std::nullopt;
}

std::optional<CommitSha> landed_again(Commit const& earlier, std::vector<Landing> const& later) {
  auto const found = std::ranges::find_if(later, [&](Landing const& landing) {
    return landing.sha != earlier.sha && lands_again(landing.message, earlier);
  });
  return found == later.end() ? std::nullopt : std::optional{found->sha};
}

bool lands_again(std::string_view message, Commit const& earlier) {
  if (earlier.pull_request && pull_request_of(message) == earlier.pull_request) return true;
  if (reverts(message, earlier)) return false;
  if (earlier.pull_request && relands(message, *earlier.pull_request)) return true;
  auto const title = title_of(first_line(message));
  return !title.empty() && title == title_of(earlier.subject);
}

}  // namespace torchwatch::bisect
