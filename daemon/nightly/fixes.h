#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/options.h"
#include "daemon/nightly/life_rules.h"
#include "storage/store.h"

/// Reads the trunk for commits that end incidents or bring them back. Failures of git are logged,
/// and nothing is returned then.
namespace torchwatch::nightly {

/// A commit of the trunk, for people.
struct LandedCommit {
  CommitSha sha;
  std::string subject;
};

/// Returns the commits that should end incidents, for those of `incidents` that have one: a revert
/// of the culprit, or a commit whose message names the issue or the culprit as fixed. A commit
/// before the last return of an incident does not count. Nothing without a repository.
std::map<IncidentId, LandedCommit> landed_fixes(storage::Store& store,
                                                config::SourceOptions const& source,
                                                std::vector<Incident> const& incidents);

/// True when `nightly` has the commit, and the incident's nightly does not.
bool came_with(storage::Store& store,
               config::SourceOptions const& source,
               Incident const& incident,
               CommitSha const& commit,
               Nightly const& nightly);

/// Returns the commit after `baseline` and up to `nightly` that lands a culprit of the incident
/// again.
std::optional<CommitSha> landed_again_in(storage::Store& store,
                                         config::SourceOptions const& source,
                                         Incident const& incident,
                                         ComparedNight const& range);

/// Returns the causes that the incident's bisections found, and the commits in its range: between
/// the nightlies that were compared. Other ranges that a user bisected do not count.
Causes causes_of(storage::Store& store, Incident const& incident);

/// Returns the proved culprits of the incident, the first bisection's first.
std::vector<Commit> culprits_of(storage::Store& store, Incident const& incident);

}  // namespace torchwatch::nightly
