#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bisect/compare/environment.h"
#include "config/options.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Raises alarms about problems of torchwatch itself, and clears them when they end. Every alarm is
/// raised once, stored, and logged as `alarm_raised` and `alarm_cleared`. A nightly that is judged
/// after a later one changes none: alarms are about the newest nightly. Single-threaded.
class Alarms {
 public:
  /// All arguments must outlive it.
  Alarms(config::Options const& options, storage::Store& store, Clock const& clock)
      : options_{options},
        store_{store},
        clock_{clock} {}

  /// Call after the feed was read. Alarms when the newest nightly is older than `feed.overdue`, or
  /// by its own date older than `feed.stale_days`, and when entries are odd (Announcer::odd).
  /// Without a reply of the feed (`odd` is empty), alarms about entries stay. `newer`:
  /// Announcer::newer.
  void check_feed(std::optional<std::vector<std::string>> const& odd, std::string const& newer);

  /// Call after the newest nightly was judged. Alarms when it could not be judged, or its incident
  /// could not be bisected.
  void check_end(Nightly const& nightly);

  /// Call after an attempt to judge a nightly. Alarms when its bisection waits for commits that the
  /// repository lacks. A clone without access to them never gets them, so the alarm comes at once.
  void check_wait(Nightly const& nightly);

  /// Call after a sweep of a nightly and its baseline. Alarms about benchmarks without a result on
  /// the nightly, or without a metric that the baseline has. Also alarms when the baseline is days
  /// older, and when it measures differently than when it was the nightly, by more than usual.
  void check_sweep(Nightly const& nightly, Nightly const& baseline);

  /// Call after a sweep without a baseline. Alarms when there was one before.
  void look_for_baseline(Nightly const& nightly);

  /// Call after a nightly was compared with its anchors. Alarms about series that drifted away from
  /// them.
  void check_anchors(Nightly const& nightly);

  /// Call after a benchmark was compared. Alarms when its series were not decided because a process
  /// failed permanently. `failure`: the reason; empty when none failed.
  void check_comparison(Nightly const& nightly, Series const& series, std::string const& failure);

 private:
  bool is_late(Nightly const& nightly) const;
  void check_clone(Nightly const& nightly);
  void check_date(Nightly const& nightly);
  void check_bisection(Nightly const& nightly);
  std::optional<Retry> missing_commits(Nightly const& nightly) const;
  void look_for_stopped_benchmarks(Nightly const& nightly, std::vector<JobOutcome> const& tonight);
  bool hides_drift(Nightly const& anchor, Nightly const& nightly, Series const& series) const;
  std::string known_between(Nightly const& anchor, Nightly const& nightly, Series const& series);
  bool still_lacks(std::string const& fleet,
                   Benchmark const& benchmark,
                   std::set<Metric> const& given) const;
  void clear_what_is_not_configured();
  void check_age(Nightly const& nightly, Nightly const& baseline);
  void check_environment(Nightly const& nightly,
                         Nightly const& baseline,
                         std::vector<JobOutcome> const& tonight);
  std::map<std::string, std::vector<bisect::RemeasuredNight>> earlier_nights(
      Nightly const& nightly);
  void set(bool is_wrong, AlarmKind kind, std::string const& subject, std::string const& detail);

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
};

}  // namespace torchwatch::nightly
