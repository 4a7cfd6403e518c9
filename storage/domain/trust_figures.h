#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/benchmark.h"
#include "storage/domain/comparison.h"

namespace torchwatch {

/// Nightlies whose levels show how noisy series and hosts are: the newest that were measured.
inline constexpr int trust_nights = 30;
/// Nightlies whose verdicts show what one costs: the newest.
inline constexpr int costed_nights = 365;

/// Of one series, relative to its level; 0.01 is 1%.
struct NightNoise {
  double level = 0;    ///< median of its nights'
  double between = 0;  ///< spread of the nights' levels
  double within = 0;   ///< range of a night's processes, in the median of nights
};

/// The noise of one series.
struct SeriesNoise {
  Series series;
  std::size_t nights = 0;           ///< that measured it
  std::optional<NightNoise> noise;  ///< none of fewer than two nights, or without a level above 0
};

/// How a host measures next to all that measured the same series.
struct HostPace {
  double ratio = 1;        ///< of its levels to the series' medians: the median over the series
  double low = 1;          ///< what all but one in ten of the series are above ...
  double high = 1;         ///< ... and all but one in ten below
  std::size_t series = 0;  ///< that it measured
  std::size_t nights = 0;  ///< of them, in all
};

/// A host of a fleet.
struct HostFigures {
  std::string fleet;
  std::string fingerprint;  ///< JSON object: what it says of itself, without the build it ran
  HostPace pace;
};

/// How comparisons of builds with themselves came out.
struct AaTally {
  std::int64_t comparisons = 0;
  std::int64_t alarms = 0;  ///< that found a regression or an improvement: all false
};

/// The same of the nightlies of a month.
struct AaMonth {
  std::string month;  ///< "2026-01"
  AaTally tally;
};

/// What verdicts of one kind cost, and how many cost that.
struct VerdictCost {
  Verdict verdict = Verdict::inconclusive;
  int pairs = 0;
  std::int64_t verdicts = 0;
};

/// What people judge verdicts by.
struct TrustFigures {
  std::vector<SeriesNoise> noise;  ///< of the last trust_nights, by fleet, benchmark and metric
  std::vector<HostFigures> hosts;  ///< of the last trust_nights
  std::vector<AaMonth> aa_months;  ///< of all nightlies, the oldest first
  std::vector<VerdictCost> costs;  ///< of the last costed_nights, by verdict and pairs
};

}  // namespace torchwatch
