#include "github/updates.h"

#include <chrono>
#include <ctime>
#include <string_view>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "github/answer.h"
#include "github/commands.h"
#include "github/markdown.h"
#include "github/reply.h"
#include "storage/base/date.h"
#include "storage/base/number.h"

namespace torchwatch::github {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds around_closing{60};
constexpr std::size_t most_bytes_of_reason = 500;

/// Seconds of "03:04:05"; nothing for another text.
std::optional<std::chrono::seconds> clock_time(std::string_view text) {
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') return {};
  auto const hours = parse_number<unsigned>(text.substr(0, 2));
  auto const minutes = parse_number<unsigned>(text.substr(3, 2));
  auto const seconds = parse_number<unsigned>(text.substr(6, 2));
  if (!hours || !minutes || !seconds) return {};
  return std::chrono::hours{*hours} + std::chrono::minutes{*minutes} +
         std::chrono::seconds{*seconds};
}

/// A member of a user object at `key`; empty when there is none.
std::string of_user(json const& object, char const* key, char const* member) {
  auto const user = object.find(key);
  return user != object.end() && user->is_object() ? text_at(*user, member) : std::string{};
}

std::vector<std::string> labels_of(json const& issue) {
  std::vector<std::string> names;
  auto const labels = issue.find("labels");
  if (labels == issue.end() || !labels->is_array()) return names;
  for (auto const& label : *labels)
    if (label.is_object()) names.push_back(text_at(label, "name"));
  return names;
}

bool is_reason(IssueComment const& comment, Closing const& closing) {
  return comment.who == closing.who && !has_own_marker(comment.body) &&
         command_lines(comment.body).empty() && !one_line(comment.body).empty();
}

}  // namespace

std::optional<Timestamp> time_at(json const& object, char const* key) {
  constexpr std::size_t of_date = 10;
  auto const text = text_at(object, key);
  if (text.size() != 20 || text[of_date] != 'T' || text.back() != 'Z') return {};
  auto const day = day_of(std::string_view{text}.substr(0, of_date));
  auto const time = clock_time(std::string_view{text}.substr(of_date + 1, 8));
  if (!day || !time) return {};
  return Timestamp{*day} + *time;
}

std::string time_text(Timestamp time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::time_t{time.time_since_epoch().count()}));
}

std::optional<IssueComment> read_comment(json const& object) {
  if (!object.is_object()) return {};
  auto const id = object.find("id");
  auto const number = id == object.end() ? std::nullopt : whole_number_in<std::int64_t>(*id);
  auto const written = time_at(object, "created_at");
  auto const updated = time_at(object, "updated_at");
  if (number.value_or(0) <= 0 || !written || !updated) return {};
  IssueComment comment;
  comment.id = *number;
  auto const page = text_at(object, "html_url");
  comment.issue = page.substr(0, page.find('#'));
  comment.who = of_user(object, "user", "login");
  comment.body = text_at(object, "body");
  comment.written_at = *written;
  comment.updated_at = *updated;
  return comment;
}

std::optional<ClosedIssue> read_closed(json const& object) {
  if (!object.is_object() || object.contains("pull_request")) return {};
  auto const updated = time_at(object, "updated_at");
  if (!updated) return {};
  return ClosedIssue{text_at(object, "html_url"), *updated};
}

std::optional<Closing> read_closing(json const& issue) {
  auto const at = time_at(issue, "closed_at");
  Closing closing;
  closing.who = of_user(issue, "closed_by", "login");
  if (!at || text_at(issue, "state") != "closed" || closing.who.empty()) return {};
  bool const is_program = of_user(issue, "closed_by", "type") == "Bot" ||
                          closing.who == of_user(issue, "user", "login");
  if (is_program) return {};
  closing.at = *at;
  closing.labels = labels_of(issue);
  return closing;
}

std::string reason_of_closing(json const& issue,
                              Closing const& closing,
                              std::vector<IssueComment> const& comments) {
  bool const is_not_planned = text_at(issue, "state_reason") == "not_planned";
  std::string reason;
  for (auto const& comment : comments) {
    bool const is_late = comment.written_at > closing.at + around_closing;
    bool const is_early = comment.written_at < closing.at - around_closing && !is_not_planned;
    if (is_late || is_early || !is_reason(comment, closing)) continue;
    reason = clip(one_line(comment.body), most_bytes_of_reason);
  }
  return reason;
}

}  // namespace torchwatch::github
