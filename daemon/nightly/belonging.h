#pragma once

#include <optional>
#include <string>

#include "config/options.h"
#include "storage/store.h"

/// Decides which regressions belong to earlier incidents. Decisions follow from stored data, so a
/// call can be repeated.
namespace torchwatch::nightly {

/// Adds regressions of `night` to earlier incidents, before its own incident is opened:
///
/// - A series of an incident returns to it when the series was back, and regressed again to the
///   same level within `decide.return_nights` judged nightlies. It also returns when a culprit of
///   the incident landed again between the builds that were compared.
/// - A new series joins an unfinished incident when the builds that were compared lie in its range:
///   the baseline is not older, and the nightly has the same commit.
///
/// Returns true when regressions are left, for an incident of their own.
bool add_to_earlier_incidents(storage::Store& store,
                              config::Options const& options,
                              ComparedNight const& night);

/// Returns an unfinished earlier incident whose range overlaps that of one of the incident's
/// series: the series was not judged by that incident's nightly, so one commit may have caused
/// both. The newest one; nothing when there is none.
std::optional<Incident> overlapping_incident(storage::Store& store, Incident const& incident);

/// True when all series of the incident overlap with an unfinished earlier incident. It is reported
/// when its bisections have ended, unless it has joined that incident by then.
bool may_belong_to_earlier(storage::Store& store, Incident const& incident);

/// Moves the series of the incident to unfinished earlier incidents with the same cause, which
/// bisections of both found. An incident that was opened keeps at least one series. Returns true
/// when a series was moved.
bool join_same_causes(storage::Store& store, Incident const& incident, bool is_opened);

}  // namespace torchwatch::nightly
