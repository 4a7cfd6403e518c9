#include "daemon/measure/alarm.h"

#include <spdlog/spdlog.h>

namespace torchwatch::measure {

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

}  // namespace torchwatch::measure
