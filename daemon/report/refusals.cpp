#include "daemon/report/refusals.h"

#include <algorithm>
#include <string_view>

#include <spdlog/spdlog.h>

namespace torchwatch::report {
namespace {

constexpr std::string_view separator = ": ";

Alarm alarm_about(std::string const& subject, std::string const& detail, Timestamp now) {
  Alarm alarm;
  alarm.kind = AlarmKind::github_refused;
  alarm.subject = subject;
  alarm.detail = detail;
  alarm.raised_at = now;
  return alarm;
}

/// The class of refusals that an alarm is about.
github::Refusal refusal_in(Alarm const& alarm) {
  auto const word = std::string_view{alarm.subject}.substr(0, alarm.subject.find(separator));
  return github::parse_refusal(word).value_or(github::Refusal::other);
}

/// True for an alarm about this report alone.
bool is_about(Alarm const& alarm, std::string const& report) {
  return alarm.subject.ends_with(std::string{separator} + report);
}

/// Clears the open alarms about refusals for which `is_over` is true.
template <class IsOver>
void clear_refusals(storage::Store& store, Timestamp now, IsOver is_over) {
  for (auto const& alarm : store.alarms().open())
    if (alarm.kind == AlarmKind::github_refused && is_over(alarm))
      set_alarm(store, false, alarm_about(alarm.subject, "", now));
}

}  // namespace

std::string report_name(IncidentId incident) {
  return "incident " + std::to_string(incident.value);
}

std::string report_name(OutboxMessage const& message) {
  if (message.alarm.value == 0) return report_name(message.incident);
  return "alarm " + std::to_string(message.alarm.value);
}

void set_alarm(storage::Store& store, bool is_wrong, Alarm const& alarm) {
  auto const kind = to_string(alarm.kind);
  if (is_wrong) {
    if (store.alarms().raise(alarm.kind, alarm.subject, alarm.detail, alarm.raised_at))
      spdlog::warn(
          "alarm_raised kind={} subject=\"{}\" detail=\"{}\"", kind, alarm.subject, alarm.detail);
  } else if (store.alarms().clear(alarm.kind, alarm.subject, alarm.raised_at)) {
    spdlog::info("alarm_cleared kind={} subject=\"{}\"", kind, alarm.subject);
  }
}

void note_refusal(storage::Store& store,
                  github::Refusal refusal,
                  std::string const& report,
                  std::string const& detail,
                  Timestamp now) {
  if (refusal == github::Refusal::none) return;
  std::string subject{github::to_string(refusal)};
  bool const is_general = github::stops_repository(refusal);
  if (!is_general) subject.append(separator).append(report);
  if (is_general)
    clear_refusals(store, now, [&](Alarm const& alarm) {
      return github::stops_repository(refusal_in(alarm)) && alarm.subject != subject;
    });
  auto const text = github::advice_on(refusal) + " (" + detail + ")";
  set_alarm(store, true, alarm_about(subject, text, now));
}

void note_success(storage::Store& store, std::string const& report, Timestamp now) {
  clear_refusals(store, now, [&](Alarm const& alarm) {
    auto const refusal = refusal_in(alarm);
    return github::stops_repository(refusal) || github::ends_report(refusal) ||
           is_about(alarm, report);
  });
}

void note_read(storage::Store& store, std::string const& reader, Timestamp now) {
  clear_refusals(store, now, [&](Alarm const& alarm) {
    auto const refusal = refusal_in(alarm);
    return github::refuses_token(refusal) || refusal == github::Refusal::hidden ||
           is_about(alarm, reader);
  });
}

bool is_refused(storage::Store& store, std::string const& report) {
  auto const open = store.alarms().open();
  return std::ranges::any_of(open, [&](Alarm const& alarm) {
    return alarm.kind == AlarmKind::github_refused &&
           (github::stops_repository(refusal_in(alarm)) || is_about(alarm, report));
  });
}

}  // namespace torchwatch::report
