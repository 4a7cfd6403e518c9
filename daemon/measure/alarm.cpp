#include "daemon/measure/alarm.h"

#include <spdlog/spdlog.h>

namespace torchwatch::measure {

void set_alarm(storage::Store& store,
               Timestamp now,
               bool is_wrong,
               AlarmKind kind,
               std::string const& subject,
               std::string const& detail) {
  if (is_wrong) {
    if (store.alarms().raise(kind, subject, detail, now))
      spdlog::warn(
          "alarm_raised kind={} subject=\"{}\" detail=\"{}\"", to_string(kind), subject, detail);
  } else if (store.alarms().clear(kind, subject, now)) {
    spdlog::info("alarm_cleared kind={} subject=\"{}\"", to_string(kind), subject);
  }
}

}  // namespace torchwatch::measure
