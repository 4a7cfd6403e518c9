#pragma once

#include "config/options.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Raises the alarm `nothing_judged` when no nightly was measured and judged for
/// `feed.unjudged_days` days, for any reason, and clears it when one is. Both are reported
/// to all destinations, once: the messages are stored with the alarm in one transaction.
///
/// The time begins when the last nightly was first seen to be judged, or at the first look. It is
/// stored, so restarts change nothing. A clock that is set back shortens no time. Single-threaded.
class SilenceAlarm {
 public:
  /// All arguments must outlive it.
  SilenceAlarm(config::Options const& options, storage::Store& store, Clock const& clock)
      : options_{options},
        store_{store},
        clock_{clock} {}

  /// Call it regularly, also during a pass: a pass that hangs is a reason.
  void check();

 private:
  void raise(storage::LastJudged const& last, Timestamp now);
  void clear(Alarm alarm, storage::LastJudged const& last, Timestamp now);

  config::Options const& options_;
  storage::Store& store_;
  Clock const& clock_;
};

}  // namespace torchwatch::nightly
