#include "storage/domain/alarm.h"

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
  }
  return "unknown";
}

std::optional<AlarmKind> parse_alarm_kind(std::string_view text) {
  for (auto const kind : {AlarmKind::missing_nightly,
                          AlarmKind::nightly_failed,
                          AlarmKind::stale_baseline,
                          AlarmKind::benchmark_stopped,
                          AlarmKind::environment,
                          AlarmKind::drift})
    if (text == to_string(kind)) return kind;
  return std::nullopt;
}

}  // namespace torchwatch
