#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/cli/commands.h"
#include "storage/base/result.h"
#include "storage/domain/alarm.h"
#include "storage/domain/incident.h"
#include "storage/store.h"

namespace torchwatch::cli {

/// The judgement on one nightly, and the incidents that were found with it.
struct Judgement {
  Nightly nightly;
  std::optional<Nightly> baseline;
  std::vector<SeriesChange> verdicts;
  /// The nightly's own, and those of the earlier nightlies that the pass judged. By nightly.
  std::vector<IncidentStory> incidents;
  std::vector<Alarm> alarms;       ///< that are open
  std::vector<Series> not_judged;  ///< nightly::not_judged, without those that were muted
};

/// The nightlies that were judged to the end, or failed.
std::set<NightlyId> judged_nightlies(storage::Store& store);

/// The judgement on the newest nightly after a pass, or nothing without any nightly.
/// `judged_before`: the judged_nightlies() before the pass. `now` decides which rulings count.
std::optional<Judgement> newest_judgement(storage::Store& store,
                                          config::Options const& options,
                                          std::set<NightlyId> const& judged_before,
                                          Timestamp now);

/// How `check` ends.
struct CheckResult {
  Status status = nothing_found;
  std::string problem;  ///< for people, where the status is could_not_run
};

/// What a pass came to. A pass or a nightly that failed could not run; an incident is found,
/// even if other series could not be judged; a nightly without one that did not judge a series
/// could not run either: a regression may be in it. `feed`: its path.
CheckResult result_of(Result<> const& passed,
                      std::optional<Judgement> const& judgement,
                      std::string const& feed);

}  // namespace torchwatch::cli
