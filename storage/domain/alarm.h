#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "storage/base/clock.h"
#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"

namespace torchwatch {

/// The problems of torchwatch itself, as opposed to regressions of PyTorch.
enum class AlarmKind {
  missing_nightly,    ///< no nightly was announced for longer than usual
  nightly_failed,     ///< the newest nightly could not be built, or none of its jobs gave a result
  stale_baseline,     ///< the baseline of the newest nightly is several days older
  benchmark_stopped,  ///< in one sweep, a benchmark gave a metric on the baseline only
  environment,        ///< the baseline's level differs from the level when it was the nightly, or
                      ///< the device of a slot misbehaved
  drift,              ///< a series grew since its anchor, but no single nightly explains it
  benchmark_undecided,      ///< a benchmark could not be compared: a process failed permanently
  runner_lost,              ///< a slot of a fleet lost its runner, or could not start one
  odd_feed_entry,           ///< a feed has an entry that is not a nightly
  builds_need_space,        ///< builds in use need more disk space than they may have
  report_update_failed,     ///< a message about an incident could not be sent to a destination
  label_dropped,            ///< the last issue lacks a label: the token has no permission to push
  github_refused,           ///< GitHub refuses reports; the subject is the class of the refusal
  clone_unfit,              ///< the clone does not name the commit of the last nightly
  stale_feed,               ///< the newest nightly of the feed has an old date
  nightly_of_another_date,  ///< the last nightly's file was built from the release of another date
  bisection_failed,  ///< the bisection of the last incident failed, or waits for commits that the
                     ///< clone lacks
  slot_unfit,        ///< a slot is slow or noisy beyond its fleet
  nothing_judged,    ///< no nightly was measured and judged for `feed.unjudged_days` days
  host_degraded,     ///< the service's host lacks disk space or descriptors, or its clock jumped
  passes_failed,     ///< several passes failed in a row
};

/// Returns all kinds, in the order declared.
std::span<AlarmKind const> alarm_kinds();

std::string_view to_string(AlarmKind kind);
std::optional<AlarmKind> parse_alarm_kind(std::string_view text);

/// Returns the subject of the `drift` alarm of a series.
std::string drift_subject(Series const& series);

/// One period of a problem, from the time it was first seen until it was gone.
struct Alarm {
  AlarmId id;
  AlarmKind kind = AlarmKind::missing_nightly;
  std::string subject;  ///< fleet, slot, benchmark, series, nightly or class of a refusal; empty if
                        ///< the kind has none
  std::string detail;   ///< for people
  Timestamp raised_at{};
  std::optional<Timestamp> cleared_at;
};

}  // namespace torchwatch
