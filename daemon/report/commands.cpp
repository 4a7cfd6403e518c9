#include "daemon/report/commands.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>

#include "daemon/report/rulings.h"
#include "github/markdown.h"
#include "github/reply.h"
#include "github/updates.h"
#include "storage/domain/words.h"

namespace torchwatch::report {
namespace asio = boost::asio;

namespace {

using github::verbatim;

/// The address of a comment; that of the issue for a closing.
std::string address_of(Incident const& incident, Answer const& answer) {
  if (answer.is_closing()) return incident.report;
  return incident.report + "#issuecomment-" + std::to_string(answer.comment);
}

/// "2026-01-16".
std::string day_text(Timestamp time) {
  constexpr std::size_t of_date = 10;
  return github::time_text(time).substr(0, of_date);
}

std::string count_of_series(std::size_t count) {
  return count == 1 ? "1 series" : std::to_string(count) + " series";
}

Ruling ruling_of(Incident const& incident, Answer const& answer, std::string const& why) {
  Ruling ruling;
  ruling.who = answer.who;
  ruling.why = why + ", " + address_of(incident, answer);
  return ruling;
}

/// A reason on one line, without characters that change the direction of writing.
std::string reason_text(std::string const& reason) {
  constexpr std::size_t most_bytes = 500;
  auto const line = github::one_line(reason);
  return std::string{github::clip(line, most_bytes)};
}

bool is_same_ruling(Ruling const& a, Ruling const& b) {
  return a.kind == b.kind && a.incident == b.incident && a.series == b.series && a.why == b.why;
}

/// The reply to a command that cannot be carried out.
std::string refusal_text(Error const& error) {
  return "not carried out: " + verbatim(error.message) + ".";
}

std::string ruling_text(Ruling const& ruling) {
  auto const word = ruling.kind == RulingKind::accept ? "Accepted by " : "False alarm, by ";
  return word + verbatim(ruling.who) + ": " + verbatim(ruling.why) + ".";
}

std::string bisection_text(Bisection const& bisection) {
  return "Bisection " + std::to_string(bisection.id.value) + " is " +
         std::string{to_string(bisection.state)} + ": " +
         verbatim(words::summary(bisection).headline) + ".";
}

std::string range_text(BisectionRequest const& request) {
  return "`" + short_of(request.start) + ".." + short_of(request.end) + "`, " +
         count_of_series(request.series.size());
}

/// The reply to a command for a bisection that was accepted.
std::string accepted_text(Bisection const& bisection) {
  auto text = "bisection " + std::to_string(bisection.id.value) + " is " +
              std::string{to_string(bisection.state)} + ": " + range_text(bisection.request) + ".";
  return bisection.incident ? text + " Its result will be added to this issue." : text;
}

}  // namespace

asio::awaitable<Result<std::string>> Commands::carry_out(Answer answer) {
  auto const incident = store_.incidents().find(answer.incident).value();
  std::string reply;
  std::istringstream lines{answer.command};
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, github::command_word.size() + 1);
    auto const done = co_await carry_out_line(incident, answer, line);
    if (!done) co_return done.error();
    reply += (reply.empty() ? "" : "\n\n") + *done;
  }
  co_return reply;
}

asio::awaitable<Result<std::string>> Commands::carry_out_line(Incident const& incident,
                                                              Answer const& answer,
                                                              std::string const& line) {
  auto const command = github::parse_command(line);
  if (!command) co_return github::refusal_of(line, command.error());
  auto const done = co_await carry_out_command(incident, answer, *command);
  if (!done) co_return done.error();
  co_return verbatim(std::string{github::command_word} + " " + line) + ": " + *done;
}

asio::awaitable<Result<std::string>> Commands::carry_out_command(Incident const& incident,
                                                                 Answer const& answer,
                                                                 github::Command const& command) {
  switch (command.kind) {
    case github::CommandKind::rebisect:
      co_return co_await rebisect(incident, answer, command);
    case github::CommandKind::accept:
    case github::CommandKind::false_alarm:
      co_return decide(incident, answer, command);
    case github::CommandKind::mute:
      co_return mute(incident, answer, command.days);
    case github::CommandKind::status:
      break;
  }
  co_return status(incident);
}

Result<std::string> Commands::decide(Incident const& incident,
                                     Answer const& answer,
                                     github::Command const& command) {
  bool const is_accepted = command.kind == github::CommandKind::accept;
  auto ruling = ruling_of(incident, answer, reason_text(command.reason));
  ruling.kind = is_accepted ? RulingKind::accept : RulingKind::false_alarm;
  ruling.incident = incident.id;
  auto const given = rule_once(std::move(ruling));
  if (!given) return refusal_text(given.error());
  return std::string{is_accepted ? "accepted. The new level is the reference from now on."
                                 : "stored as a false alarm."};
}

/// Mutes each series of an incident. The end depends on the comment alone, so that a repetition
/// after a crash gives the same rulings.
Result<std::string> Commands::mute(Incident const& incident, Answer const& answer, int days) {
  auto const until = answer.at + std::chrono::days{days};
  for (auto const& change : incident.changes) {
    auto ruling = ruling_of(
        incident, answer, "muted for " + std::to_string(days) + (days == 1 ? " day" : " days"));
    ruling.kind = RulingKind::mute;
    ruling.series = {change.series.fleet, change.series.benchmark, change.series.metric};
    ruling.until = until;
    auto const given = rule_once(std::move(ruling));
    if (!given) return refusal_text(given.error());
  }
  return "regressions of " + count_of_series(incident.changes.size()) +
         " are recorded, but not reported, until " + day_text(until) + ".";
}

/// Gives a ruling, unless this comment gave it before a crash.
Result<> Commands::rule_once(Ruling ruling) {
  auto const known = store_.rulings().all();
  if (std::ranges::any_of(known, [&](Ruling const& one) { return is_same_ruling(one, ruling); }))
    return {};
  auto const given = give_ruling(store_, std::move(ruling), clock_.now());
  if (!given) return given.error();
  return {};
}

asio::awaitable<Result<std::string>> Commands::rebisect(Incident const& incident,
                                                        Answer const& answer,
                                                        github::Command const& command) {
  auto order = order_for(incident, command);
  if (!order) co_return refusal_text(order.error());
  if (auto const known = asked_since(order->request, answer.at)) co_return accepted_text(*known);
  auto const asked = co_await ask_(std::move(*order));
  if (asked) co_return accepted_text(*asked);
  bool const is_later =
      asked.error().code == ErrorCode::unavailable || asked.error().code == ErrorCode::cancelled;
  if (is_later) co_return asked.error();
  co_return refusal_text(asked.error());
}

Result<BisectionOrder> Commands::order_for(Incident const& incident,
                                           github::Command const& command) {
  BisectionOrder order;
  order.request = request_for(incident);
  order.incident = incident.id;
  if (command.start.empty()) return order;
  auto const start = commit_named(command.start);
  if (!start) return start.error();
  auto const end = commit_named(command.end);
  if (!end) return end.error();
  order.request.start = *start;
  order.request.end = *end;
  return order;
}

/// Returns the request of the incident's first bisection. Without one: its two nightlies and all
/// its series.
BisectionRequest Commands::request_for(Incident const& incident) {
  auto const earlier = store_.bisections().of_incident_in_brief(incident.id);
  if (!earlier.empty()) return earlier.front().request;
  BisectionRequest request;
  request.start = store_.nightlies().find(incident.baseline).value().commit;
  request.end = store_.nightlies().find(incident.nightly).value().commit;
  request.threshold = options_.decide.threshold;
  request.prior = options_.bisect.prior;
  for (auto const& change : incident.changes)
    request.series.push_back(change.series);
  return request;
}

Result<CommitSha> Commands::commit_named(std::string const& name) {
  if (is_commit_sha(name)) return CommitSha{name};
  auto const nightly = store_.nightlies().of_date(name);
  if (nightly && !nightly->commit.hex.empty()) return nightly->commit;
  return Error{ErrorCode::invalid_argument,
               "found " + name + ", allowed the date of a nightly whose commit is known"};
}

/// Returns the bisection that a comment asked for before a crash.
std::optional<Bisection> Commands::asked_since(BisectionRequest const& request, Timestamp at) {
  for (auto const& known : store_.bisections().all_in_brief()) {
    auto const& other = known.request;
    bool const is_same = other.start == request.start && other.end == request.end &&
                         other.series == request.series && !known.inside;
    if (is_same && known.asked_at >= at) return known;
  }
  return std::nullopt;
}

std::string Commands::status(Incident const& incident) {
  auto text = "\n\n- Worse in nightly " + verbatim(date_of(incident.nightly)) +
              " than in nightly " + verbatim(date_of(incident.baseline)) + ": " +
              count_of_series(incident.changes.size()) + ".\n";
  auto const rulings = store_.rulings().on(incident.id);
  text += "- " + (rulings.empty() ? "No ruling is stored." : ruling_text(rulings.back())) + "\n";
  for (auto const& bisection : store_.bisections().of_incident_in_brief(incident.id))
    text += "- " + bisection_text(bisection) + "\n";
  return text;
}

std::string Commands::date_of(NightlyId nightly) {
  return store_.nightlies().find(nightly).value().date;
}

}  // namespace torchwatch::report
