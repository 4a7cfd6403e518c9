#include "storage/domain/alarm.h"

#include <array>

namespace torchwatch {

std::string_view to_string(AlarmKind kind) {
  switch (kind) {
    case AlarmKind::missing_nightly:
      return "missing_nightly";
    case AlarmKind::nightly_failed:
      return "nightly_failed";
    case AlarmKind::stale_baseline:
      return "stale_baseline";
    case AlarmKind::benchmark_stopped:
      return "benchmark_stopped";
    case AlarmKind::environment:
      return "environment";
    case AlarmKind::drift:
      return "drift";
    case AlarmKind::benchmark_undecided:
      return "benchmark_undecided";
    case AlarmKind::runner_lost:
      return "runner_lost";
    case AlarmKind::odd_feed_entry:
      return "odd_feed_entry";
    case AlarmKind::builds_need_space:
      return "builds_need_space";
    case AlarmKind::report_update_failed:
      return "report_update_failed";
    case AlarmKind::label_dropped:
      return "label_dropped";
    case AlarmKind::github_refused:
      return "github_refused";
    case AlarmKind::clone_unfit:
      return "clone_unfit";
    case AlarmKind::stale_feed:
      return "stale_feed";
    case AlarmKind::nightly_of_another_date:
      return "nightly_of_another_date";
    case AlarmKind::bisection_failed:
      return "bisection_failed";
    case AlarmKind::slot_unfit:
      return "slot_unfit";
    case AlarmKind::nothing_judged:
      return "nothing_judged";
    case AlarmKind::host_degraded:
      return "host_degraded";
    case AlarmKind::passes_failed:
      return "passes_failed";
  }
  return "unknown";
}

std::span<AlarmKind const> alarm_kinds() {
  static constexpr std::array kinds{
      AlarmKind::missing_nightly,      AlarmKind::nightly_failed,
      AlarmKind::stale_baseline,       AlarmKind::benchmark_stopped,
      AlarmKind::environment,          AlarmKind::drift,
      AlarmKind::benchmark_undecided,  AlarmKind::runner_lost,
      AlarmKind::odd_feed_entry,       AlarmKind::builds_need_space,
      AlarmKind::report_update_failed, AlarmKind::label_dropped,
      AlarmKind::github_refused,       AlarmKind::clone_unfit,
      AlarmKind::stale_feed,           AlarmKind::nightly_of_another_date,
      AlarmKind::bisection_failed,     AlarmKind::slot_unfit,
      AlarmKind::nothing_judged,       AlarmKind::host_degraded,
      AlarmKind::passes_failed};
  return kinds;
}

std::optional<AlarmKind> parse_alarm_kind(std::string_view text) {
  for (auto const kind : alarm_kinds())
    if (text == to_string(kind)) return kind;
  return std::nullopt;
}

std::string drift_subject(Series const& series) {
  return series.fleet + ": " + name_of(series);
}

}  // namespace torchwatch
