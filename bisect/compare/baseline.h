#pragma once

#include <map>
#include <optional>
#include <vector>

#include "storage/domain/build.h"
#include "storage/domain/comparison.h"
#include "storage/domain/night.h"
#include "storage/domain/ruling.h"

/// Chooses the nightlies that a nightly is compared with. Pure. Every list of nightlies is in their
/// order, as the store lists them.
namespace torchwatch::bisect {

/// True when `nightly` comes before `other`: by date, then by id.
bool is_before(Nightly const& nightly, Nightly const& other);

/// True when `earlier`, which comes before `nightly`, may be its baseline. It must have been judged
/// to the end: its changes are known, so its levels count as normal. Two kinds of nightlies of the
/// same date are skipped, because `nightly` publishes them again: an earlier edition of its file,
/// and a build of its commit that was not a published file.
bool can_be_baseline(Nightly const& earlier, Nightly const& nightly);

/// The newest of `nightlies` before `nightly` that can_be_baseline().
std::optional<Nightly> baseline_of(Nightly const& nightly, std::vector<Nightly> const& nightlies);

/// True when a nightly after `nightly` is already judged. The later one is the normal now. Judging
/// `nightly` as well would report its changes twice.
bool is_late(Nightly const& nightly, std::vector<Nightly> const& nightlies);

/// True for a later edition of a file of which an earlier one was judged or has failed.
bool is_edition(Nightly const& nightly, std::vector<Nightly> const& nightlies);

/// The nights on which each series was judged, and the rulings.
struct JudgedSeries {
  std::vector<SeriesNights> nights{};  ///< the last nightlies, as from Histories::recent
  std::vector<Ruling> rulings{};       ///< the rulings on all series and incidents
};

/// The baselines of series that the baseline of their nightly did not judge.
struct SeriesBaselines {
  /// The last nightly that judged the series.
  std::map<Series, NightlyId> older{};
  /// Series without such a nightly. They are compared with the nightly's baseline.
  std::vector<Series> lost{};
};

/// Finds the series whose baseline is older than `usual`, the baseline of `nightly`. A series is
/// compared with the last nightly before `nightly` that judged it (NightOfSeries::is_judged), or at
/// which a user accepted its level. So a change is found although the benchmark crashed, or the
/// comparison was inconclusive, on the nightly that brought it.
///
/// A series is lost in three cases. No nightly judged it. Or a user accepted its level at a nightly
/// that did not measure it. Or the benchmark ran on three nightlies without a comparison of the
/// series, because the metric is no longer reported or the older build no longer runs.
SeriesBaselines series_baselines(Nightly const& nightly,
                                 Nightly const& usual,
                                 std::vector<Nightly> const& nightlies,
                                 JudgedSeries const& history);

/// The number of nightlies that a series may go without a judgement. Then it is compared with the
/// nightly's baseline, and the build that it waited for is no longer kept.
inline constexpr int nightlies_to_wait = 100;

/// The verdicts, rulings and nightlies from which anchors for a benchmark are chosen.
struct BenchmarkHistory {
  FleetBenchmark which;
  std::vector<NightlyVerdict> verdicts;  ///< comparisons of nightlies with their baselines
  std::vector<NightlyVerdict> anchored;  ///< comparisons of nightlies with their anchors
  std::vector<Ruling> rulings;           ///< all rulings, also on other benchmarks
  std::vector<NightlyId> measured;       ///< nightlies on which the benchmark reported any value
};

/// The nightlies that may be the anchor of `nightly`, oldest first: those before it that were
/// judged to the end and measured the benchmark. The list starts at the last nightly at which the
/// benchmark regressed, improved on its anchor, or had its level accepted by a user.
std::vector<Nightly> anchor_candidates(Nightly const& nightly,
                                       std::vector<Nightly> const& nightlies,
                                       BenchmarkHistory const& history);

}  // namespace torchwatch::bisect
