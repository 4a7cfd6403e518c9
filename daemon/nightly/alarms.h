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

/// Notices when the watching itself is in trouble, and when it no longer is. Every alarm is raised
/// once, kept, and logged as `alarm_raised` and `alarm_cleared`. A nightly that is judged after a
/// later one changes none: alarms are about the newest. Single-threaded.
class Alarms {
 public:
  /// All arguments must outlive it.
  Alarms(config::Options const& options, storage::Store& store, Clock const& clock)
      : options_{options},
        store_{store},
        clock_{clock} {}

  /// After a feed was asked: is the newest nightly older than `feed.overdue`, or by its own date
  /// than `feed.stale_days`, and are entries odd (Announcer::odd)? What is said of entries stays
  /// where there is no answer. `newer`: Announcer::newer.
  void check_feed(std::optional<std::vector<std::string>> const& odd, std::string const& newer);

  /// After the newest nightly was judged: could it be, and could its incident be bisected?
  void check_end(Nightly const& nightly);

  /// After an attempt to judge a nightly: does it wait for commits that the repository does not
  /// give to its bisection? A clone that cannot have them never will, so this is said at once.
  void check_wait(Nightly const& nightly);

  /// After a sweep of a nightly beside `baseline`: benchmarks that gave nothing on the nightly, or
  /// not every metric that they gave on the baseline, a baseline that is days older, and one that
  /// measures otherwise than on its own night, by more than nights usually do.
  void check_sweep(Nightly const& nightly, Nightly const& baseline);

  /// After a sweep of a nightly beside no baseline: that there is none any more.
  void look_for_baseline(Nightly const& nightly);

  /// After a nightly was compared with its anchors: series that drifted away from them.
  void check_anchors(Nightly const& nightly);

  /// After a benchmark was compared: a process of it failed for good, so that its series were not
  /// decided. `failure`: why; empty when none did.
  void check_comparison(Nightly const& nightly, Series const& series, std::string const& failure);

  /// After findings were added to reports: `failures` says which could not be, and why.
  void check_report_updates(std::vector<std::string> const& failures);

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
