#include "daemon/nightly/silence.h"

#include <chrono>
#include <ctime>
#include <string>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "daemon/report/alarm_messages.h"
#include "github/markdown.h"

namespace torchwatch::nightly {
namespace {

std::string minute_of(Timestamp time) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC",
                     fmt::gmtime(std::time_t{time.time_since_epoch().count()}));
}

std::string name_of_nightly(storage::Store& store, storage::LastJudged const& last) {
  auto const nightly = last.nightly ? store.nightlies().find(*last.nightly) : std::nullopt;
  return nightly ? "nightly " + nightly->date : "none before";
}

/// Lists the other open alarms, which often have the reason. Their texts come from elsewhere, so
/// they are shown verbatim.
std::string list_of_alarms(std::vector<Alarm> const& open) {
  std::string list;
  for (auto const& alarm : open) {
    if (alarm.kind == AlarmKind::nothing_judged) continue;
    auto const text = alarm.subject.empty() ? alarm.detail : alarm.subject + ": " + alarm.detail;
    list += fmt::format(
        "- `{}`: {}\n", to_string(alarm.kind), github::verbatim(github::without_directories(text)));
  }
  if (list.empty()) return "No other alarm is open.\n";
  return github::shortened("Open alarms, which may have the reason:\n\n" + list,
                           github::max_body_bytes / 2);
}

}  // namespace

void SilenceAlarm::check() {
  auto const now = clock_.now();
  auto const last = store_.nightlies().note_last_judged(now);
  auto const allowed = std::chrono::days{options_.feed.unjudged_days};
  bool const is_silent = options_.feed.unjudged_days > 0 && now - last.at >= allowed;
  auto open = store_.alarms().find_open(AlarmKind::nothing_judged, "");
  if (is_silent && !open) raise(last, now);
  if (!is_silent && open) clear(std::move(*open), last, now);
}

void SilenceAlarm::raise(storage::LastJudged const& last, Timestamp now) {
  report::AlarmReport report;
  auto& alarm = report.alarm;
  alarm.kind = AlarmKind::nothing_judged;
  alarm.raised_at = now;
  auto const since = fmt::format("{} ({})", minute_of(last.at), name_of_nightly(store_, last));
  alarm.detail =
      fmt::format("no nightly was measured and judged since {}; feed.unjudged_days is {}",
                  since,
                  options_.feed.unjudged_days);
  report.title =
      fmt::format("torchwatch has judged no nightly for {} days", options_.feed.unjudged_days);
  report.text = fmt::format(
      "No nightly was measured and judged since {}. Regressions since then are not reported.\n\n"
      "{}\n"
      "**Next steps:** `torchwatch alarms` lists all alarms, and docs/alarms.md says what to do "
      "about each. The log of the service has the reason of each failed pass. This issue is closed "
      "when a nightly is judged.\n",
      since,
      list_of_alarms(store_.alarms().open()));
  auto const messages = report::messages_about_raised(report, options_);
  if (store_.alarms().raise(alarm, messages))
    spdlog::warn("alarm_raised kind=nothing_judged subject=\"\" detail=\"{}\"", alarm.detail);
}

void SilenceAlarm::clear(Alarm alarm, storage::LastJudged const& last, Timestamp now) {
  report::AlarmReport report;
  report.alarm = std::move(alarm);
  report.alarm.cleared_at = now;
  report.title = "torchwatch judges nightlies again";
  report.text =
      fmt::format("torchwatch watches again. Last judged: {}.\n", name_of_nightly(store_, last));
  auto const messages = report::messages_about_cleared(report, options_);
  if (store_.alarms().clear(report.alarm.id, now, messages))
    spdlog::info("alarm_cleared kind=nothing_judged subject=\"\"");
}

}  // namespace torchwatch::nightly
