#include "bisect/git/commit_message.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "storage/base/date.h"
#include "storage/domain/project.h"

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

/// A pull request, from its URL on GitHub.
struct PullRequestAddress {
  int number = 0;
  bool is_ours = false;  ///< true for the watched project
};

bool equal_ignoring_case(std::string_view one, std::string_view other) {
  auto const lower = [](unsigned char c) {
    return std::tolower(c);
  };
  return std::ranges::equal(one, other, {}, lower, lower);
}

/// Reads "https://github.com/OWNER/NAME/pull/N" at the beginning of the first word of `text`.
std::optional<PullRequestAddress> address_in(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  constexpr std::string_view path = "/pull/";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text = text.substr(0, text.find_first_of(blanks));
  auto const end = text.find(path);
  if (!text.starts_with("https://github.com/") || end == std::string_view::npos)
    return std::nullopt;
  auto const rest = text.substr(end + path.size());
  auto const number = parse_number(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!number) return std::nullopt;
  return PullRequestAddress{*number, equal_ignoring_case(text.substr(0, end), project_url)};
}

/// Calls `read` with each line, without white space at its end.
template <class Read>
void for_each_line(std::string_view message, Read read) {
  while (!message.empty()) {
    auto const line = message.substr(0, message.find('\n'));
    read(trimmed(line));
    message.remove_prefix(std::min(message.size(), line.size() + 1));
  }
}

/// Calls `read` with the rest of each line that begins with `key`.
template <class Read>
void for_each_trailer(std::string_view message, std::string_view key, Read read) {
  for_each_line(message, [&](std::string_view line) {
    if (line.starts_with(key)) read(line.substr(key.size()));
  });
}

/// The pull request that a line resolves. PyTorch's merge bot accepts these three keys anywhere in
/// a line, so they count anywhere here too.
std::optional<PullRequestAddress> resolved_in(std::string_view line) {
  for (std::string_view const key :
       {"Pull Request resolved:", "Pull-Request-resolved:", "Pull-Request:"}) {
    auto const at = line.rfind(key);
    if (at == std::string_view::npos) continue;
    if (auto const address = address_in(line.substr(at + key.size()))) return address;
  }
  return std::nullopt;
}

std::string_view subject_of(std::string_view message) {
  return message.substr(0, message.find('\n'));
}

constexpr std::string_view revert_begins = "Revert \"";

std::optional<int> number_in_subject(std::string_view subject) {
  if (subject.starts_with(revert_begins)) {
    auto const after_quotes = subject.rfind('"') + 1;
    // A shortened subject lacks the closing quote. All of it describes the reverted pull request.
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
  std::optional<int> ours;
  std::vector<int> of_others;
  for_each_line(message, [&](std::string_view line) {
    auto const address = resolved_in(line);
    if (address && address->is_ours) ours = address->number;
    if (address && !address->is_ours) of_others.push_back(address->number);
  });
  if (ours) return ours;
  auto const number = number_in_subject(subject_of(message));
  if (number && std::ranges::find(of_others, *number) != of_others.end()) return std::nullopt;
  return number;
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
    auto const address = address_in(value);
    if (address && address->is_ours) revert.pull_request = address->number;
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
