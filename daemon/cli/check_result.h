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

/// The verdicts on one nightly, and the incidents that the pass opened.
struct Judgement {
  Nightly nightly;
  std::optional<Nightly> baseline;
  std::vector<SeriesChange> verdicts;
  /// The incident of this nightly, and those of the earlier ones that the pass judged, by nightly.
  std::vector<IncidentStory> incidents;
  std::vector<Alarm> alarms;       ///< open ones
  std::vector<Series> not_judged;  ///< nightly::not_judged, without muted series
};

/// Returns the nightlies that were judged to the end, or failed.
std::set<NightlyId> judged_nightlies(storage::Store& store);

/// Returns the judgement on the newest nightly after a pass; nothing when the database has no
/// nightly. `judged_before`: the judged_nightlies() before the pass. `now` decides which rulings
/// count.
std::optional<Judgement> newest_judgement(storage::Store& store,
                                          config::Options const& options,
                                          std::set<NightlyId> const& judged_before,
                                          Timestamp now);

/// The exit status of `check`, with the reason.
struct CheckResult {
  Status status = nothing_found;
  std::string problem;  ///< for people, when the status is could_not_run
};

/// Returns the result of a pass over the feed at path `feed`:
/// - could_not_run when the pass or the nightly failed, or when there is no incident but a series
///   without a verdict, which may have regressed;
/// - incident_found when there is an incident, even if some series have no verdict.
CheckResult result_of(Result<> const& passed,
                      std::optional<Judgement> const& judgement,
                      std::string const& feed);

}  // namespace torchwatch::cli
