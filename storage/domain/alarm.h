#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/clock.h"
#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"

namespace torchwatch {

/// What is wrong with the watching itself, as opposed to what is watched.
enum class AlarmKind {
  missing_nightly,    ///< no nightly was announced for longer than usual
  nightly_failed,     ///< the newest nightly could not be built, or none of its jobs gave a result
  stale_baseline,     ///< what the newest nightly is compared with is several days older
  benchmark_stopped,  ///< gave a metric on the baseline and not on the nightly, on the same night
  environment,        ///< the baseline itself measures otherwise than on its own night, or a slot's
                      ///< device was not itself
  drift,              ///< a series grew since its anchor, and no night was seen to bring as much
  benchmark_undecided,   ///< was to be compared, and a process of it failed for good
  runner_lost,           ///< a slot of a fleet lost its runner, or gets none
  odd_feed_entry,        ///< a feed has an entry that is no nightly
  builds_need_space,     ///< what has to be kept of builds is more than it may be
  report_update_failed,  ///< what a bisection found, or an edition came to, could not be added to a
                         ///< report
  label_dropped,         ///< the last issue lacks a label: the token may not push
  clone_unfit,  ///< the clone does not name the commit that the last nightly was built from
  stale_feed,   ///< the feed's newest nightly is old by its own date
  nightly_of_another_date,  ///< the last nightly's file was built from another date's release
  bisection_failed,  ///< the bisection of the last incident could not be done, or waits for commits
                     ///< that the clone lacks
};

std::string_view to_string(AlarmKind kind);
std::optional<AlarmKind> parse_alarm_kind(std::string_view text);

/// What the alarm about a series that drifted is about.
std::string drift_subject(Series const& series);

/// Raised when the trouble is first seen, cleared when it is seen no more.
struct Alarm {
  AlarmId id;
  AlarmKind kind = AlarmKind::missing_nightly;
  std::string subject;  ///< a fleet, slot, benchmark, series or nightly; empty where there is one
  std::string detail;   ///< for people
  Timestamp raised_at{};
  std::optional<Timestamp> cleared_at;
};

}  // namespace torchwatch
