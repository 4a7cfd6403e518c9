#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "storage/domain/build.h"
#include "storage/domain/comparison.h"
#include "storage/domain/ruling.h"

/// What a nightly is compared with. Pure. Nightlies come in their order, as the store lists them.
namespace torchwatch::bisect {

/// Whether a nightly comes before another.
bool is_before(Nightly const& nightly, Nightly const& other);

/// The newest of `nightlies` before `nightly` that was judged to the end: what it brought is known,
/// so it counts as normal. One of the same day and commit, or an earlier edition of its file, is
/// the same published again, and stands aside.
std::optional<Nightly> baseline_of(Nightly const& nightly, std::vector<Nightly> const& nightlies);

/// Whether one that came after `nightly` was judged by then, with the one before: that is what
/// counts as normal now, and to judge this one would tell the same twice.
bool is_late(Nightly const& nightly, std::vector<Nightly> const& nightlies);

/// A nightly whose builds were measured side by side, and what it was compared with.
struct ComparedNight {
  Nightly nightly;
  Nightly baseline;
};

/// The newest of those that came and were judged before `nightly`: `most` at most, newest first.
/// The same ones while it is judged, whatever is announced meanwhile.
std::vector<ComparedNight> compared_before(Nightly const& nightly,
                                           std::vector<Nightly> const& nightlies,
                                           std::size_t most);

/// What is known of a benchmark's level.
struct BenchmarkHistory {
  FleetBenchmark which;
  std::vector<NightlyVerdict> verdicts;  ///< of nightlies with their baselines
  std::vector<NightlyVerdict> anchored;  ///< of nightlies with their anchors
  std::vector<Ruling> rulings;           ///< whatever they are about
  std::vector<NightlyId> measured;       ///< nightlies on which it gave anything
};

/// What `nightly` may be anchored to: those of `nightlies` before it that were judged to the end
/// and on which the benchmark runs, oldest first, from the last one on at which the benchmark
/// regressed, was found better than its anchor, or somebody accepted its level.
std::vector<Nightly> anchor_candidates(Nightly const& nightly,
                                       std::vector<Nightly> const& nightlies,
                                       BenchmarkHistory const& history);

}  // namespace torchwatch::bisect
