#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bisect/compare/cost.h"
#include "config/options.h"
#include "storage/domain/incident.h"

/// The rules of an incident's life: facts in, decisions out. Pure.
namespace torchwatch::nightly {

/// The stored facts on an incident from which its next event follows.
struct LifeFacts {
  IncidentState state = IncidentState::open;
  bool is_opened = false;  ///< it has its event `opened`
  /// It may have the cause of an earlier incident, and its bisection has not ended.
  bool is_held = false;
  std::optional<RulingKind> ruling{};  ///< the last one on it
  bool has_returned = false;           ///< its series regressed again, and no event says so
  bool has_joined = false;             ///< series joined it, and no event says so
  bool has_correction = false;         ///< a correction that no event has
  /// Bisections ended that no event reports, and none of its nightlies is being investigated.
  bool has_results = false;
  bool is_explained = false;    ///< with `has_results`: a bisection found the cause
  bool is_fix_landed = false;   ///< the trunk has a commit that should end it
  std::size_t series = 0;       ///< the number of its series
  std::size_t recovered = 0;    ///< those that are back now
  bool has_recovered = false;   ///< a series is back on a nightly for which no event says so
  bool is_unmeasured = false;   ///< one of its series is not measured any more
  bool is_stale_noted = false;  ///< it has its event `stale`
};

/// True while a fix on the trunk is news for an incident in this state.
bool waits_for_fix(IncidentState state);

/// The next event of an incident.
struct Transition {
  IncidentEventKind kind = IncidentEventKind::opened;
  IncidentState state = IncidentState::open;  ///< afterwards
  friend bool operator==(Transition const&, Transition const&) = default;
};

/// Returns the next event; nothing when no fact is news. Each event makes at least one fact old, so
/// repeated calls end.
std::optional<Transition> next_transition(LifeFacts const& facts);

/// The costs of one series of an incident tonight, for the screen of recoveries.
struct RecoveryScreen {
  Metric metric = Metric::latency;
  double before = 0;                  ///< level of the last good build when it regressed
  double during = 0;                  ///< level of the incident's nightly then
  double tonight = 0;                 ///< level in the sweep
  std::vector<bisect::Pair> pairs{};  ///< the sweep's, next to tonight's baseline
};

/// The cheap filter before a comparison with the last good build. True when the sweep's level is
/// within tolerance of the level before, or better. Also true when the sweep measured at least half
/// of the step back, next to the baseline: levels of other hosts and months may differ.
bool may_be_back(RecoveryScreen const& screen, config::DecideOptions const& options);

/// Options for the comparison of a series that was compared `attempts` times before in the life of
/// its incident. Attempt k has 1 / (k * (k + 1)) of `options.miss`, so the sum over all nightlies
/// is at most `options.miss`. That is the highest probability that an incident is ever called fixed
/// although one of its series is still worse by the threshold.
config::DecideOptions for_attempt(config::DecideOptions options, std::size_t attempts);

/// True when a regression ends at the level of an earlier one, or has its ratio, within tolerance.
bool is_same_step(SeriesChange const& earlier,
                  Comparison const& tonight,
                  config::DecideOptions const& options);

/// The causes that the bisections of an incident found.
struct Causes {
  std::vector<CommitSha> culprits{};  ///< commits that were proved
  std::vector<CommitSha> range{};     ///< all commits between the ends, in any order
};

/// True when the commits that a bisection suspects for a series caused the earlier incident, too.
/// They must contain one of its culprits. If it has none, they must all lie in its range.
bool have_same_cause(std::vector<Commit> const& suspects, Causes const& earlier);

}  // namespace torchwatch::nightly
