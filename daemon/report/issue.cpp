#include "daemon/report/issue.h"

#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include "daemon/report/refusals.h"
#include "github/comment.h"
#include "github/issue.h"

namespace torchwatch::report {
namespace asio = boost::asio;

namespace {

/// The retries of a request. Other messages wait for it, and the outbox tries again.
constexpr int retries = 2;

constexpr auto issue_is_gone = "the issue was deleted or locked, or is another one now";
constexpr auto pull_request_is_gone = "the pull request was deleted or locked";

github::IssueState state_after(OutboxAction action) {
  if (action == OutboxAction::close_completed) return github::IssueState::completed;
  if (action == OutboxAction::close_not_planned) return github::IssueState::not_planned;
  return github::IssueState::open;
}

/// The address of an issue, from its own or that of one of its comments: the first message that
/// arrived may have been a comment.
std::string issue_of(std::string const& place) {
  return place.substr(0, place.find('#'));
}

Delivery gone_from(char const* why) {
  Delivery delivery;
  delivery.gone = why;
  return delivery;
}

}  // namespace

asio::awaitable<Result<Delivery>> IssueDestination::deliver(OutboxMessage const& message,
                                                            DeliveryContext context) {
  auto const connection = Connection::open(options_, network_, options_with_pause(store_, retries));
  auto& client = connection->client();
  auto delivered = co_await act(client, message, std::move(context));
  co_return noted(client.refusal(), message, std::move(delivered));
}

/// Stores whether GitHub refused a message. A refusal of everything says nothing about the message,
/// which is then tried again.
Result<Delivery> IssueDestination::noted(github::Refusal refusal,
                                         OutboxMessage const& message,
                                         Result<Delivery> delivered) {
  auto const now = network_.clock.now();
  auto const report = report_name(message);
  if (delivered && delivered->gone.empty()) {
    note_success(store_, report, now);
    return delivered;
  }
  auto const place = place_of_report(message);
  note_refusal(store_, refusal, report, delivered ? place : delivered.error().message, now);
  pause_after(refusal, network_);
  if (!delivered && github::stops_repository(refusal))
    return Error{ErrorCode::unavailable, delivered.error().message};
  return delivered;
}

asio::awaitable<Result<Delivery>> IssueDestination::act(github::Client& client,
                                                        OutboxMessage const& message,
                                                        DeliveryContext context) {
  bool const is_opening = message.action == OutboxAction::open_issue;
  if (is_opening) co_return co_await file(client, message, std::move(context));
  if (context.place.empty()) context.place = place_of_report(message);
  context.place = issue_of(context.place);
  if (!context.place.starts_with("https://"))
    co_return gone_from("it was reported as a file, not as an issue");
  if (message.action == OutboxAction::edit_body)
    co_return co_await edit(client, message, std::move(context));
  if (message.action != OutboxAction::comment)
    co_return co_await set_state(client, message, std::move(context));
  auto body = message.body;
  co_return co_await comment(client, message, std::move(body), std::move(context));
}

asio::awaitable<Result<Delivery>> IssueDestination::file(github::Client& client,
                                                         OutboxMessage const& message,
                                                         DeliveryContext context) {
  github::IssueDraft draft;
  draft.key = github::key_in(message.marker).value();
  draft.title = message.title;
  draft.body = message.body;
  draft.labels = message.labels;
  bool const is_about_alarm = message.alarm.value != 0;
  if (!is_about_alarm) store_.incidents().intend_report(message.incident, draft.key);
  bool const was_sent = context.sent.at.has_value();
  auto const issue = co_await client.file_once(std::move(draft), std::move(context.sent));
  if (!issue) co_return issue.error();
  spdlog::info("issue_filed url={} existed={}", issue->url, issue->existed);
  check_labels(*issue);
  if (!is_about_alarm) store_.incidents().reported(message.incident, issue->url);
  Delivery delivery;
  delivery.place = issue->url;
  // If this message was sent before, a user may have edited the issue since. Otherwise, an issue
  // that existed was filed before an older database was restored. Its text may have other figures.
  bool const is_found_again = issue->existed && !was_sent;
  delivery.digest = github::digest_of_body(is_found_again ? issue->body : message.body);
  co_return delivery;
}

/// A body that a user edited stays: then the new one becomes a comment, also if the user has
/// restored the old one since.
asio::awaitable<Result<Delivery>> IssueDestination::edit(github::Client& client,
                                                         OutboxMessage const& message,
                                                         DeliveryContext context) {
  if (!context.sent.at) {
    github::BodyDraft draft;
    draft.report = key_of_report(message, context);
    draft.marker = message.marker;
    draft.body = message.body;
    draft.known_digest = context.digest;
    draft.sent_markers = context.sent_markers;
    auto const edited = co_await client.edit_body(context.place, std::move(draft));
    if (!edited) co_return edited.error();
    if (!*edited) co_return gone_from(issue_is_gone);
    Delivery delivery;
    delivery.place = context.place;
    delivery.digest = github::digest_of_body(message.body);
    if (**edited == github::Edit::written) co_return delivery;
  }
  auto body = github::comment_in_place_of(message.body, message.marker);
  co_return co_await comment(client, message, std::move(body), std::move(context));
}

asio::awaitable<Result<Delivery>> IssueDestination::comment(github::Client& client,
                                                            OutboxMessage const& message,
                                                            std::string body,
                                                            DeliveryContext context) {
  github::CommentDraft draft;
  draft.report = key_of_report(message, context);
  draft.marker = message.marker;
  draft.body = std::move(body);
  auto const written =
      co_await client.comment_once(context.place, std::move(draft), std::move(context.sent));
  if (!written) co_return written.error();
  if (!*written) co_return gone_from(issue_is_gone);
  Delivery delivery;
  delivery.place = **written;
  co_return delivery;
}

asio::awaitable<Result<Delivery>> IssueDestination::set_state(github::Client& client,
                                                              OutboxMessage const& message,
                                                              DeliveryContext context) {
  auto report = key_of_report(message, context);
  auto const state = state_after(message.action);
  auto const set = co_await client.set_state(std::move(context.place), std::move(report), state);
  if (!set) co_return set.error();
  if (!*set) co_return gone_from(issue_is_gone);
  Delivery delivery;
  delivery.place = **set;
  co_return delivery;
}

/// The key of the issue. The first message about an alarm opens its issue, so its marker has it.
std::string IssueDestination::key_of_report(OutboxMessage const& message,
                                            DeliveryContext const& context) {
  if (message.alarm.value != 0) return github::key_in(context.first_marker).value_or("");
  return store_.incidents().find(message.incident).value().report_key;
}

/// The stored address of the report; empty before it was written.
std::string IssueDestination::place_of_report(OutboxMessage const& message) {
  if (message.alarm.value != 0) return store_.outbox().place_of(message);
  return store_.incidents().find(message.incident).value().report;
}

void IssueDestination::check_labels(github::CreatedIssue const& issue) {
  std::string missing;
  for (auto const& label : issue.missing_labels) {
    spdlog::warn("label_dropped issue={} label=\"{}\"", issue.url, label);
    missing += (missing.empty() ? "\"" : ", \"") + label + "\"";
  }
  Alarm alarm;
  alarm.kind = AlarmKind::label_dropped;
  alarm.detail = issue.url + " lacks " + missing + ": " +
                 (issue.are_labels_refused
                      ? "GitHub does not allow one of the labels; correct github.labels"
                      : "GitHub drops labels of a token that may not push to " +
                            options_.repository + "; let it push, or empty github.labels");
  alarm.raised_at = network_.clock.now();
  set_alarm(store_, !missing.empty(), alarm);
}

/// Stores whether GitHub refused the token, which says nothing about the message. Other refusals
/// may be those of another repository than that of the reports.
Error PullRequestDestination::noted(github::Refusal refusal,
                                    OutboxMessage const& message,
                                    Error error) {
  if (!github::refuses_token(refusal)) return error;
  auto const report = report_name(message.incident);
  note_refusal(store_, refusal, report, error.message, network_.clock.now());
  pause_after(refusal, network_);
  error.code = ErrorCode::unavailable;
  return error;
}

asio::awaitable<Result<Delivery>> PullRequestDestination::deliver(OutboxMessage const& message,
                                                                  DeliveryContext context) {
  auto const connection = Connection::open(options_, network_, options_with_pause(store_, retries));
  auto& client = connection->client();
  github::CommentDraft draft;
  draft.marker = message.marker;
  draft.body = message.body;
  auto const written =
      co_await client.comment_once(message.title, std::move(draft), std::move(context.sent));
  if (!written) co_return noted(client.refusal(), message, written.error());
  if (!*written) co_return gone_from(pull_request_is_gone);
  Delivery delivery;
  delivery.place = **written;
  co_return delivery;
}

}  // namespace torchwatch::report
