#include "bisect/git/commit_message.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "storage/base/date.h"

namespace torchwatch::bisect {
namespace {

std::optional<int> parse_number(std::string_view digits) {
  int number = 0;
  auto const [stop, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  bool const whole = failure == std::errc{} && stop == digits.data() + digits.size();
  if (!whole || number <= 0) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view line) {
  auto const last = line.find_last_not_of(" \t\r\n");
  return line.substr(0, last + 1);
}

std::optional<int> number_after_pull(std::string_view line) {
  constexpr std::string_view path = "/pull/";
  auto const found = line.rfind(path);
  if (found == std::string_view::npos) return std::nullopt;
  auto const digits = trimmed(line.substr(found + path.size()));
  return parse_number(digits.substr(0, digits.find(' ')));
}

/// Calls `read` with what follows `key` in each line that begins with it.
template <class Read>
void for_each_trailer(std::string_view message, std::string_view key, Read read) {
  while (!message.empty()) {
    auto const line = message.substr(0, message.find('\n'));
    if (line.starts_with(key)) read(trimmed(line.substr(key.size())));
    message.remove_prefix(std::min(message.size(), line.size() + 1));
  }
}

std::string_view subject_of(std::string_view message) {
  return message.substr(0, message.find('\n'));
}

constexpr std::string_view revert_begins = "Revert \"";

std::optional<int> number_in_subject(std::string_view subject) {
  if (subject.starts_with(revert_begins)) {
    auto const after_quotes = subject.rfind('"') + 1;
    // A subject cut short lacks the closing quote: all of it is about the reverted pull request.
    if (after_quotes == revert_begins.size()) return std::nullopt;
    subject.remove_prefix(after_quotes);
  }
  subject = trimmed(subject);
  auto const open = subject.rfind("(#");
  if (open == std::string_view::npos || !subject.ends_with(')')) return std::nullopt;
  return parse_number(subject.substr(open + 2, subject.size() - open - 3));
}

}  // namespace

std::optional<int> pull_request_of(std::string_view message) {
  std::optional<int> resolved;
  for_each_trailer(message, "Pull Request resolved:", [&resolved](std::string_view value) {
    if (auto const number = number_after_pull(value)) resolved = number;
  });
  return resolved ? resolved : number_in_subject(subject_of(message));
}

std::vector<std::string> approvers_of(std::string_view message) {
  constexpr std::string_view site = "https://github.com/";
  std::vector<std::string> names;
  for_each_trailer(message, "Approved by:", [&names, site](std::string_view value) {
    for (auto at = value.find(site); at != std::string_view::npos; at = value.find(site)) {
      value.remove_prefix(at + site.size());
      std::string name{value.substr(0, value.find_first_of(", \t/"))};
      if (!name.empty() && std::ranges::find(names, name) == names.end())
        names.push_back(std::move(name));
    }
  });
  return names;
}

std::optional<Revert> revert_of(std::string_view message) {
  auto subject = subject_of(message);
  if (!subject.starts_with(revert_begins)) return std::nullopt;
  Revert revert;
  for_each_trailer(message, "This reverts commit ", [&revert](std::string_view value) {
    auto const sha = value.substr(0, value.find_first_of(". ,"));
    if (is_commit_sha(sha)) revert.commit = CommitSha{std::string{sha}};
  });
  for_each_trailer(message, "Reverted ", [&revert](std::string_view value) {
    if (auto const number = number_after_pull(value.substr(0, value.find(' '))))
      revert.pull_request = number;
  });
  if (revert.pull_request) return revert;
  subject.remove_prefix(revert_begins.size());
  revert.pull_request = number_in_subject(subject.substr(0, subject.rfind('"')));
  return revert;
}

std::optional<NightlyRelease> parse_nightly_release(std::string_view subject, CommitSha release) {
  constexpr std::string_view between = " nightly release (";
  constexpr std::size_t date_size = 10;
  constexpr std::size_t sha_size = 40;
  auto const text = trimmed(subject);
  if (text.size() != date_size + between.size() + sha_size + 1 || !text.ends_with(')') ||
      text.substr(date_size, between.size()) != between)
    return std::nullopt;
  auto const date = text.substr(0, date_size);
  auto const sha = text.substr(date_size + between.size(), sha_size);
  if (!day_of(date) || !is_commit_sha(sha)) return std::nullopt;
  return NightlyRelease{std::string{date}, CommitSha{std::string{sha}}, std::move(release)};
}

}  // namespace torchwatch::bisect
