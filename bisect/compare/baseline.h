#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "storage/domain/build.h"
#include "storage/domain/comparison.h"
#include "storage/domain/night.h"
#include "storage/domain/ruling.h"

/// What a nightly is compared with. Pure. Nightlies come in their order, as the store lists them.
namespace torchwatch::bisect {

/// Whether a nightly comes before another.
bool is_before(Nightly const& nightly, Nightly const& other);

/// The newest of `nightlies` before `nightly` that was judged to the end: what it brought is known,
/// so it counts as normal. An earlier edition of its file, or a build of its day and commit that
/// was no published file, is the same published again, and stands aside.
std::optional<Nightly> baseline_of(Nightly const& nightly, std::vector<Nightly> const& nightlies);

/// Whether one that came after `nightly` was judged by then, with the one before: that is what
/// counts as normal now, and to judge this one would tell the same twice.
bool is_late(Nightly const& nightly, std::vector<Nightly> const& nightlies);

/// True for a later edition of a file of which an earlier one was judged or has failed.
bool is_edition(Nightly const& nightly, std::vector<Nightly> const& nightlies);

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

/// The nights on which each series was judged, and the rulings.
struct JudgedSeries {
  std::vector<SeriesNights> nights{};  ///< of the last nightlies, as Histories::recent
  std::vector<Ruling> rulings{};       ///< of all series and incidents
};

/// The baselines of series that the baseline of their nightly did not judge.
struct SeriesBaselines {
  /// The last nightly that judged the series.
  std::map<Series, NightlyId> older{};
  /// Series that have no such nightly: they are compared with the nightly's baseline all the same.
  std::vector<Series> lost{};
};

/// Each series is compared with the last nightly before `nightly` that judged it
/// (NightOfSeries::is_judged), or at which a person accepted its level: names those for which that
/// is older than `usual`, the baseline of `nightly`. A nightly on which the benchmark crashed, or
/// the comparison was inconclusive, hides no change.
///
/// A series is lost when no nightly judged it, when a person accepted a level that nothing was
/// measured of, and after three nightlies on which the benchmark ran and yet there was nothing to
/// compare: the metric is not given any more, or the older build does not run any more.
SeriesBaselines series_baselines(Nightly const& nightly,
                                 Nightly const& usual,
                                 std::vector<Nightly> const& nightlies,
                                 JudgedSeries const& history);

/// The number of nightlies that a series may go without a judgement. Then it is compared with the
/// nightly's baseline, and the build that it waited for is not kept any more.
inline constexpr int nightlies_to_wait = 100;

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
