#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bisect/git/history.h"
#include "bisect/git/landings.h"
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

/// Finds the commits that should end incidents: a revert of the culprit, or a commit whose message
/// names the issue or the culprit as fixed. A commit before the last return of an incident does not
/// count. Reads only the commits that landed since it last looked at an incident; after a restart,
/// all of them. Single-threaded.
class FixSearch {
 public:
  /// All arguments must outlive it.
  FixSearch(storage::Store& store, config::SourceOptions const& source)
      : store_{store},
        source_{source} {}

  /// Returns the fixes of those of `incidents` that have one. Nothing without a repository.
  std::map<IncidentId, LandedCommit> look(std::vector<Incident> const& incidents);

 private:
  /// The commits of the trunk that were read for an incident.
  struct Progress {
    CommitSha start;  ///< the commit before the first one
    CommitSha end;    ///< the last one; `start` before the first
    bisect::FixFinder finder;
  };

  Result<std::optional<LandedCommit>> fix_of(bisect::GitHistory const& history,
                                             Incident const& incident);
  Result<> catch_up(Progress& progress, bisect::GitHistory const& history);

  storage::Store& store_;
  config::SourceOptions const& source_;
  std::map<IncidentId, Progress> progress_{};
};

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
