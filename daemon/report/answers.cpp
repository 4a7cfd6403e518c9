#include "daemon/report/answers.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/algorithm/string/predicate.hpp>
#include <spdlog/spdlog.h>

#include "daemon/report/messages.h"
#include "daemon/report/refusals.h"
#include "daemon/report/rulings.h"
#include "github/commands.h"
#include "github/reply.h"

namespace torchwatch::report {
namespace asio = boost::asio;

namespace {

/// The time after which a permission is read again.
constexpr std::chrono::hours permission_age{1};
/// GitHub's lists may show a change later than another that came after it.
constexpr std::chrono::seconds longest_lag_of_lists{120};
/// The time in which people write the reason of a closing.
constexpr std::chrono::seconds after_closing{60};
/// The retries of a request: the next poll tries again.
constexpr int retries_of_answers = 1;
/// The name under which a refusal to read is stored.
constexpr auto reader_name = "answers";

/// The page of an issue under the configured name of its repository, which may be an older one.
std::string with_repository(std::string const& page, std::string const& repository) {
  constexpr std::string_view scheme = "https://";
  auto const host_end = page.find('/', scheme.size());
  auto const number = page.rfind("/issues/");
  if (host_end == std::string::npos || number == std::string::npos) return page;
  return page.substr(0, host_end + 1) + repository + page.substr(number);
}

/// The state of reading after an answer. A full answer is continued at its newest change; a hundred
/// changes within one second are not seen.
template <class Item>
ReadPlace after(ReadPlace place, github::Updates<Item> const& read) {
  auto newest = place.since;
  for (auto const& item : read.items)
    newest = std::max(newest, item.updated_at);
  auto since = std::max(place.since, read.is_full ? newest : newest - longest_lag_of_lists);
  if (read.is_full && since == place.since) since += std::chrono::seconds{1};
  place.etag = since == place.since ? read.etag : std::string{};
  place.since = since;
  return place;
}

/// The commands as lines of one text, each with its first word.
std::string joined(std::vector<std::string> const& lines) {
  std::string text;
  for (auto const& line : lines)
    text += (text.empty() ? "" : "\n") + std::string{github::command_word} + ' ' + line;
  return text;
}

/// True for commands that decide about an incident.
bool holds_decision(std::string const& commands) {
  return commands.find("accept") != std::string::npos ||
         commands.find("false-alarm") != std::string::npos;
}

/// True for an edit that the last reading did not see.
bool is_edited_since(github::IssueComment const& comment, ReadPlace const& place) {
  return comment.is_edited() && comment.updated_at > place.since + longest_lag_of_lists;
}

/// The reason why a comment that was not stored yet has no command; empty when it has one. A
/// comment that was read before counts as it was then.
std::string obstacle_to(github::IssueComment const& comment,
                        Answer const& answer,
                        ReadPlace const& place) {
  if (answer.command.empty()) return "no line of its text begins with a command";
  bool const is_old = comment.id <= place.last_comment;
  return is_old && comment.is_edited() ? "its command was added by an edit" : "";
}

void log_ignored(Answer const& answer, std::string const& reason) {
  spdlog::info("comment_ignored incident={} comment={} who=\"{}\" reason=\"{}\"",
               answer.incident.value,
               answer.comment,
               answer.who,
               reason);
}

/// True when an issue has a label. GitHub's labels ignore case. read_labels() stores what it means.
bool has_label(github::Closing const& closing, std::string const& label) {
  return std::ranges::any_of(closing.labels,
                             [&](std::string const& one) { return boost::iequals(one, label); });
}

bool is_unavailable(Error const& error) {
  return error.code == ErrorCode::unavailable;
}

}  // namespace

asio::awaitable<Result<>> Answers::poll() {
  bool const has_issues = store_.incidents().newest_issue_opened_at().has_value();
  if (options_.github.repository.empty() || !has_issues) co_return Result<>{};
  auto const connection =
      Connection::open(options_.github, network_, options_with_pause(store_, retries_of_answers));
  auto& client = connection->client();
  auto const comments = co_await read_comments(client);
  if (!comments) {
    note_unread(client.refusal(), comments.error());
    co_return comments.error();
  }
  note_read(store_, reader_name, network_.clock.now());
  auto const closings = co_await read_closings(client);
  auto const answered = co_await answer_all(client);
  co_return closings ? answered : closings;
}

asio::awaitable<Result<>> Answers::read_labels() {
  auto const& label = options_.github.false_alarm_label;
  bool const is_off = options_.github.repository.empty() || label.empty();
  if (is_off || store_.incidents().count() == 0) co_return Result<>{};
  auto const connection =
      Connection::open(options_.github, network_, options_with_pause(store_, 0));
  auto& client = connection->client();
  auto const keys = co_await client.keys_labelled(label);
  if (!keys) {
    note_unread(client.refusal(), keys.error());
    co_return keys.error();
  }
  note_read(store_, reader_name, network_.clock.now());
  for (auto const& key : *keys) {
    auto const incident = store_.incidents().of_report(key);
    if (!incident) continue;
    auto const ruled = rule_false_alarm(*incident);
    if (!ruled) co_return ruled.error();
  }
  co_return Result<>{};
}

/// Stores a ruling for the label, unless a user called the incident a false alarm before.
Result<> Answers::rule_false_alarm(Incident const& incident) {
  auto const rulings = store_.rulings().on(incident.id);
  if (std::ranges::count(rulings, RulingKind::false_alarm, &Ruling::kind) > 0) return {};
  Ruling ruling;
  ruling.kind = RulingKind::false_alarm;
  ruling.incident = incident.id;
  ruling.who = "GitHub";
  ruling.why = "label " + options_.github.false_alarm_label + " on " + incident.report;
  auto const given = give_ruling(store_, std::move(ruling), network_.clock.now());
  if (!given) return given.error();
  return {};
}

/// Stores why GitHub did not let issues be read.
void Answers::note_unread(github::Refusal refusal, Error const& problem) {
  note_refusal(store_, refusal, reader_name, problem.message, network_.clock.now());
  pause_after(refusal, network_);
}

/// Comments on reports that were filed before the first call count from the newest report on.
ReadPlace Answers::place_of(ReadList list) {
  if (auto const known = store_.answers().place(list)) return *known;
  ReadPlace place;
  place.since = store_.incidents().newest_issue_opened_at().value();
  return place;
}

std::optional<Incident> Answers::incident_at(std::string const& page) {
  if (auto incident = store_.incidents().reported_at(page)) return incident;
  return store_.incidents().reported_at(with_repository(page, options_.github.repository));
}

asio::awaitable<Result<>> Answers::read_comments(github::Client& client) {
  auto const place = place_of(ReadList::comments);
  github::ListPlace from{place.since, place.etag};
  auto const read = co_await client.comments_since(std::move(from));
  if (!read) co_return read.error();
  if (read->is_unchanged) co_return Result<>{};
  auto next = after(place, *read);
  for (auto const& comment : read->items) {
    auto const noted = co_await note(client, comment, place);
    if (!noted) co_return noted.error();
    next.last_comment = std::max(next.last_comment, comment.id);
  }
  store_.answers().keep_place(ReadList::comments, next);
  co_return Result<>{};
}

/// Stores a comment that has commands, or mentions one. `place`: the state of reading before it.
asio::awaitable<Result<>> Answers::note(github::Client& client,
                                        github::IssueComment const& comment,
                                        ReadPlace const& place) {
  bool const mentions = comment.body.find(github::command_word) != std::string::npos;
  if (!mentions || github::has_own_marker(comment.body)) co_return Result<>{};
  auto const incident = incident_at(comment.issue);
  if (!incident) co_return Result<>{};
  auto answer = answer_to(comment, incident->id);
  if (store_.answers().has(comment.id)) {
    if (is_edited_since(comment, place))
      log_ignored(answer, "it was edited after it was read");
    else
      spdlog::debug("comment_known incident={} comment={}", incident->id.value, comment.id);
    co_return Result<>{};
  }
  auto reason = obstacle_to(comment, answer, place);
  if (reason.empty()) {
    auto const may = co_await may_write(client, comment.who);
    if (!may) co_return may.error();
    if (!*may) reason = "its author may not write to the repository";
  }
  if (reason.empty())
    store_.answers().add(answer);
  else
    ignore(std::move(answer), reason);
  co_return Result<>{};
}

Answer Answers::answer_to(github::IssueComment const& comment, IncidentId incident) {
  Answer answer;
  answer.comment = comment.id;
  answer.incident = incident;
  answer.command = joined(github::command_lines(comment.body));
  answer.who = comment.who;
  answer.at = network_.clock.now();
  return answer;
}

/// Stores that nothing is done for a comment, so that it is logged once.
void Answers::ignore(Answer answer, std::string const& reason) {
  log_ignored(answer, reason);
  answer.reply = "";
  store_.answers().add(answer);
}

/// A permission that the token may not read counts as none. While the token itself is refused, no
/// permission is known.
asio::awaitable<Result<bool>> Answers::may_write(github::Client& client, std::string login) {
  auto const now = network_.clock.now();
  auto const known = permissions_.find(login);
  if (known != permissions_.end() && now < known->second.read_at + permission_age)
    co_return known->second.may_write;
  auto const may = co_await client.may_write(login);
  bool const is_unknown =
      !may && (is_unavailable(may.error()) || github::refuses_token(client.refusal()));
  if (is_unknown) co_return may.error();
  if (!may) spdlog::warn("permission_unknown who=\"{}\" reason=\"{}\"", login, may.error().message);
  bool const is_allowed = may && *may;
  permissions_[login] = {is_allowed, now};
  co_return is_allowed;
}

/// An issue that was closed within the last minute is read again by the next poll.
asio::awaitable<Result<>> Answers::read_closings(github::Client& client) {
  auto const place = place_of(ReadList::closed_issues);
  github::ListPlace from{place.since, place.etag};
  auto const read = co_await client.closed_since(std::move(from));
  if (!read) co_return read.error();
  if (read->is_unchanged) co_return Result<>{};
  bool is_complete = true;
  for (auto const& issue : read->items) {
    auto const noted = co_await note_closing(client, issue);
    if (!noted) co_return noted.error();
    is_complete = is_complete && *noted;
  }
  if (is_complete) store_.answers().keep_place(ReadList::closed_issues, after(place, *read));
  co_return Result<>{};
}

/// Stores the closing of a report by a person: as a ruling if a reason was given, else as a
/// question. Returns false when it is too early to know.
asio::awaitable<Result<bool>> Answers::note_closing(github::Client& client,
                                                    github::ClosedIssue const& issue) {
  auto const incident = incident_at(issue.page);
  bool const is_fixed = incident && incident->state == IncidentState::fixed;
  if (!incident || is_fixed || is_decided(incident->id)) co_return true;
  auto const closing = co_await client.closing_of(issue.page);
  if (!closing) co_return closing.error();
  if (!*closing || has_label(**closing, options_.github.false_alarm_label)) co_return true;
  auto const& who = (*closing)->who;
  auto const& reason = (*closing)->reason;
  auto const now = network_.clock.now();
  if (now < (*closing)->at + after_closing) co_return false;
  auto const may = co_await may_write(client, who);
  if (!may) co_return may.error();
  Answer answer;
  answer.comment = -incident->id.value;
  answer.incident = incident->id;
  answer.who = who;
  answer.at = now;
  bool const is_reasoned = *may && !reason.empty();
  if (is_reasoned) {
    answer.command = joined({"accept " + reason});
    store_.answers().add(answer);
  } else {
    answer.reply = github::question_after_closing(who);
    store_.answers().reply(answer, reply_to(answer));
  }
  spdlog::info("issue_closed_by_hand incident={} who=\"{}\" reason=\"{}\"",
               incident->id.value,
               who,
               is_reasoned ? "given" : "none");
  co_return true;
}

/// True when there is a ruling on an incident, or a comment that gives one, or its closing was
/// stored.
bool Answers::is_decided(IncidentId incident) {
  if (store_.answers().has(-incident.value) || !store_.rulings().on(incident).empty()) return true;
  auto const answers = store_.answers().of(incident);
  return std::ranges::any_of(answers, [](Answer const& answer) {
    return !answer.reply && holds_decision(answer.command);
  });
}

/// A failed command delays the later ones of its incident, and no others. Returns the first
/// failure.
asio::awaitable<Result<>> Answers::answer_all(github::Client& client) {
  Result<> result;
  std::set<IncidentId> waiting;
  auto open = store_.answers().open();
  for (auto& answer : open) {
    auto const incident = answer.incident;
    if (waiting.contains(incident)) continue;
    auto const done = co_await answer_one(client, std::move(answer));
    if (done) continue;
    waiting.insert(incident);
    if (result) result = done;
  }
  co_return result;
}

asio::awaitable<Result<>> Answers::answer_one(github::Client& client, Answer answer) {
  auto const reacted = co_await react(client, answer);
  if (!reacted) co_return reacted.error();
  auto text = co_await commands_.carry_out(answer);
  if (!text) co_return text.error();
  answer.reply = std::move(*text);
  store_.answers().reply(answer, reply_to(answer));
  spdlog::info("command_carried_out incident={} comment={} who=\"{}\"",
               answer.incident.value,
               answer.comment,
               answer.who);
  co_return Result<>{};
}

/// Shows that a comment was read. It is carried out without its reaction if GitHub refuses that.
asio::awaitable<Result<>> Answers::react(github::Client& client, Answer const& answer) {
  if (answer.is_closing()) co_return Result<>{};
  auto const reacted = co_await client.react_to(answer.comment);
  if (!reacted && is_unavailable(reacted.error())) co_return reacted.error();
  if (!reacted)
    spdlog::warn(
        "reaction_refused comment={} reason=\"{}\"", answer.comment, reacted.error().message);
  co_return Result<>{};
}

}  // namespace torchwatch::report
