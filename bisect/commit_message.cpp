#include "bisect/commit_message.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <utility>

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
  auto const last = line.find_last_not_of(" \t\r");
  return line.substr(0, last + 1);
}

std::optional<int> number_in_trailer(std::string_view line) {
  constexpr std::string_view key = "Pull Request resolved:";
  constexpr std::string_view path = "/pull/";
  if (!line.starts_with(key)) return std::nullopt;
  auto const found = line.rfind(path);
  if (found == std::string_view::npos) return std::nullopt;
  return parse_number(trimmed(line.substr(found + path.size())));
}

std::optional<int> number_in_subject(std::string_view subject) {
  constexpr std::string_view revert = "Revert \"";
  if (subject.starts_with(revert)) {
    auto const after_quotes = subject.rfind('"') + 1;
    // A subject cut short lacks the closing quote: all of it is about the reverted pull request.
    if (after_quotes == revert.size()) return std::nullopt;
    subject.remove_prefix(after_quotes);
  }
  subject = trimmed(subject);
  auto const open = subject.rfind("(#");
  if (open == std::string_view::npos || !subject.ends_with(')')) return std::nullopt;
  return parse_number(subject.substr(open + 2, subject.size() - open - 3));
}

}  // namespace

std::optional<int> pull_request_of(std::string_view message) {
  auto const subject = message.substr(0, message.find('\n'));
  std::optional<int> resolved;
  while (!message.empty()) {
    auto const line = message.substr(0, message.find('\n'));
    if (auto const number = number_in_trailer(line)) resolved = number;
    message.remove_prefix(std::min(message.size(), line.size() + 1));
  }
  return resolved ? resolved : number_in_subject(subject);
}

std::optional<NightlyRelease> parse_nightly_release(std::string_view subject, CommitSha release) {
  static std::regex const form{
      R"((\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])) nightly release \(([0-9a-f]{40})\)\s*)"};
  std::match_results<std::string_view::const_iterator> match;
  if (!std::regex_match(subject.begin(), subject.end(), match, form)) return std::nullopt;
  return NightlyRelease{match[1].str(), CommitSha{match[2].str()}, std::move(release)};
}

}  // namespace torchwatch::bisect
