#include "daemon/report/sender.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "daemon/report/email.h"
#include "daemon/report/issue.h"
#include "daemon/report/messages.h"
#include "daemon/report/refusals.h"
#include "daemon/report/report_file.h"
#include "daemon/report/webhook.h"

namespace torchwatch::report {
namespace asio = boost::asio;

namespace {

constexpr std::chrono::minutes first_pause{1};
constexpr std::chrono::hours longest_pause{6};
/// The time after the first rejection of a message in which an operator can mend a setting.
constexpr std::chrono::hours time_to_mend{3 * 24};
/// Failed attempts after which a destination that does not reply raises an alarm: an hour.
constexpr int silent_attempts = 6;
/// The time for which the alarm of a message that was given up stays.
constexpr std::chrono::hours alarm_of_given_up{7 * 24};
constexpr std::string_view given_up_infix = " at ";

std::chrono::seconds pause_before_attempt(int attempts) {
  constexpr int most_doublings = 9;  // more exceed the longest pause
  std::chrono::seconds const pause = first_pause * (1 << std::min(attempts, most_doublings));
  return std::min<std::chrono::seconds>(pause, longest_pause);
}

Alarm failed_update(std::string const& subject, std::string const& detail, Timestamp now) {
  Alarm alarm;
  alarm.kind = AlarmKind::report_update_failed;
  alarm.subject = subject;
  alarm.detail = detail;
  alarm.raised_at = now;
  return alarm;
}

/// "incident 7 at github".
std::string subject_of_given_up(OutboxMessage const& message) {
  return report_name(message).append(given_up_infix).append(message.destination);
}

/// True when the later messages of the incident and destination need what the message makes.
bool is_needed_by_later(OutboxMessage const& message) {
  return message.destination == destination::github && message.action == OutboxAction::open_issue;
}

/// Sets a flag until the end of its scope, also when that is left by an exception.
class Busy {
 public:
  explicit Busy(bool& flag) : flag_{flag} { flag_ = true; }

  Busy(Busy const&) = delete;
  Busy& operator=(Busy const&) = delete;

  ~Busy() { flag_ = false; }

 private:
  bool& flag_;
};

}  // namespace

Destinations destinations_of(config::Options const& options,
                             storage::Store& store,
                             Network github,
                             Network web) {
  Destinations all;
  auto const add = [&](std::string_view name, std::unique_ptr<Destination> one) {
    all[std::string{name}] = std::move(one);
  };
  auto const& [webhook, email, has_comments] = options.publish;
  add(destination::file, std::make_unique<FileDestination>(options.state_dir, store));
  if (has_comments)
    add(destination::pull_request,
        std::make_unique<PullRequestDestination>(options.github, store, github));
  if (!webhook.url.empty())
    add(destination::webhook, std::make_unique<WebhookDestination>(webhook, std::move(web)));
  if (!email.to.empty())
    add(destination::email, std::make_unique<EmailDestination>(email, github.clock));
  if (!options.github.repository.empty())
    add(destination::github,
        std::make_unique<IssueDestination>(options.github, store, std::move(github)));
  return all;
}

asio::awaitable<Result<>> Sender::send_due() {
  if (is_sending_) co_return Result<>{};
  Busy const busy{is_sending_};
  clear_old_alarms();
  Result<> all_reported;
  // A failed message is due again only later, so each round of this loop has fewer.
  auto const now = clock_.now();
  for (auto due = store_.outbox().next_due(now); !due.empty();
       due = store_.outbox().next_due(now)) {
    for (auto& entry : due) {
      bool const is_report =
          entry.message.action == OutboxAction::open_issue && entry.message.alarm.value == 0;
      auto const sent = co_await send(std::move(entry));
      if (sent) continue;
      if (sent.error().code == ErrorCode::cancelled) co_return sent.error();
      if (is_report) all_reported = sent;
    }
  }
  co_return all_reported;
}

asio::awaitable<Result<>> Sender::send(OutboxEntry entry) {
  auto const step = co_await steps_.enter();
  auto const delivered = co_await deliver(entry);
  if (!delivered) {
    if (delivered.error().code == ErrorCode::cancelled) co_return delivered.error();
    postpone(entry, delivered.error());
    co_return delivered.error();
  }
  if (delivered->gone.empty())
    finish(entry, *delivered);
  else
    give_up(entry, delivered->gone, true);
  co_return Result<>{};
}

asio::awaitable<Result<Delivery>> Sender::deliver(OutboxEntry const& entry) {
  auto const found = destinations_.find(entry.message.destination);
  if (found == destinations_.end())
    co_return Error{ErrorCode::refused,
                    entry.message.destination + ": not configured any more, see docs/github.md"};
  auto context = context_of(entry);
  co_return co_await found->second->deliver(entry.message, std::move(context));
}

DeliveryContext Sender::context_of(OutboxEntry const& entry) {
  auto const& message = entry.message;
  DeliveryContext context;
  context.place = store_.outbox().place_of(message);
  bool const is_about_alarm = message.alarm.value != 0;
  // The description of an alarm's issue is never edited.
  if (!is_about_alarm)
    context.digest = store_.outbox().body_digest(message.incident, message.destination);
  auto const earlier = is_about_alarm ? store_.outbox().of_alarm(message.alarm)
                                      : store_.outbox().of(message.incident);
  for (auto const& one : earlier) {
    if (one.message.destination != message.destination) continue;
    if (context.first_marker.empty()) context.first_marker = one.message.marker;
    if (one.done_at) context.sent_markers.push_back(one.message.marker);
  }
  context.sent.at = entry.sent_at;
  context.sent.store = [this, id = message.id](std::optional<Timestamp> at) {
    store_.outbox().mark_sent(id, at);
  };
  return context;
}

void Sender::finish(OutboxEntry const& entry, Delivery const& delivery) {
  auto const& message = entry.message;
  auto const now = clock_.now();
  store_.outbox().finish(message.id, delivery.place, delivery.digest, now);
  spdlog::info("message_sent id={} report=\"{}\" destination={} action={} place={}",
               message.id,
               report_name(message),
               message.destination,
               to_string(message.action),
               delivery.place);
  set_alarm(store_, false, failed_update(message.destination, "", now));
}

void Sender::postpone(OutboxEntry const& entry, Error const& failure) {
  auto const& message = entry.message;
  auto const now = clock_.now();
  bool const is_silent = failure.code == ErrorCode::unavailable;
  bool const is_rejected = !is_silent && failure.code != ErrorCode::internal;
  if (is_rejected && entry.rejected_at && now >= *entry.rejected_at + time_to_mend) {
    give_up(entry, failure.message, is_needed_by_later(message));
    return;
  }
  store_.outbox().postpone(message.id,
                           failure.message,
                           now + pause_before_attempt(entry.attempts),
                           is_rejected ? std::optional{now} : std::nullopt);
  spdlog::warn("message_failed id={} report=\"{}\" destination={} attempts={} reason=\"{}\"",
               message.id,
               report_name(message),
               message.destination,
               entry.attempts + 1,
               failure.message);
  if (!is_silent || entry.attempts + 1 >= silent_attempts)
    raise(message, message.destination, failure.message);
}

void Sender::give_up(OutboxEntry const& entry, std::string const& why, bool with_later) {
  auto const& message = entry.message;
  if (with_later)
    store_.outbox().give_up(message.id, why, clock_.now());
  else
    store_.outbox().give_up_alone(message.id, why, clock_.now());
  spdlog::warn("message_given_up id={} report=\"{}\" destination={} reason=\"{}\"",
               message.id,
               report_name(message),
               message.destination,
               why);
  raise(message, subject_of_given_up(message), why);
}

/// Raises the alarm, unless `github_refused` gives the reason.
void Sender::raise(OutboxMessage const& message,
                   std::string const& subject,
                   std::string const& detail) {
  bool const is_to_github = message.destination == destination::github;
  if (is_to_github && is_refused(store_, report_name(message))) return;
  set_alarm(store_, true, failed_update(subject, detail, clock_.now()));
}

void Sender::clear_old_alarms() {
  auto const now = clock_.now();
  for (auto const& alarm : store_.alarms().open()) {
    bool const is_given_up = alarm.kind == AlarmKind::report_update_failed &&
                             alarm.subject.find(given_up_infix) != std::string::npos;
    if (is_given_up && alarm.raised_at + alarm_of_given_up < now)
      set_alarm(store_, false, failed_update(alarm.subject, "", now));
  }
}

}  // namespace torchwatch::report
