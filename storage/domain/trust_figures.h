#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/comparison.h"

namespace torchwatch {

/// The number of newest measured nightlies from which the noise of series and hosts is computed.
inline constexpr int trust_nights = 30;
/// The number of newest nightlies from which the costs of verdicts are computed.
inline constexpr int costed_nights = 365;

/// The noise of one series. `between` and `within` are relative to `level`; 0.01 is 1%.
struct NightNoise {
  double level = 0;    ///< median level of its nightlies, in the metric's unit
  double between = 0;  ///< spread of the nightlies' levels
  double within = 0;   ///< median over nightlies of the range of a nightly's processes
};

/// A series and its noise.
struct SeriesNoise {
  Series series;
  std::size_t nights = 0;           ///< number of nightlies that measured it
  std::optional<NightNoise> noise;  ///< absent below two nightlies, or without a level above 0
};

/// The speed of a host compared with all hosts that measured the same series. Each series has a
/// ratio: the host's level to the median of all hosts.
struct HostPace {
  double ratio = 1;        ///< median of the ratios
  double low = 1;          ///< 10th percentile of the ratios
  double high = 1;         ///< 90th percentile of the ratios
  std::size_t series = 0;  ///< number of series that it measured
  std::size_t nights = 0;  ///< number of nightly summaries of these series
};

/// A host of a fleet.
struct HostFigures {
  std::string fleet;
  std::string fingerprint;  ///< JSON object: its hardware and software, without the build it ran
  HostPace pace;
};

/// The results of self-comparisons.
struct AaTally {
  std::int64_t comparisons = 0;
  std::int64_t alarms = 0;  ///< false verdicts: regressions and improvements
};

/// The self-comparisons of the nightlies of one month.
struct AaMonth {
  std::string month;  ///< "2026-01"
  AaTally tally;
};

/// The number of verdicts of one kind that needed a number of pairs of processes.
struct VerdictCost {
  Verdict verdict = Verdict::inconclusive;
  int pairs = 0;
  std::int64_t verdicts = 0;
};

/// When an incident was opened, explained and fixed.
struct IncidentTimes {
  std::string month;  ///< the month of its nightly: "2026-01"
  Timestamp opened_at{};
  std::optional<Timestamp> culprit_at{};  ///< when its first culprit was known
  std::optional<Timestamp> fixed_at{};    ///< when it was last found fixed; absent unless it is now
};

/// The times that something took.
struct Durations {
  std::int64_t count = 0;  ///< 0: the others are 0, too
  std::int64_t median_s = 0;
  std::int64_t most_s = 0;
  friend bool operator==(Durations const&, Durations const&) = default;
};

/// The incidents of the nightlies of one month.
struct IncidentMonth {
  std::string month;  ///< "2026-01"
  std::int64_t incidents = 0;
  Durations to_culprit{};  ///< from opened, of the incidents with a culprit
  Durations to_fix{};      ///< from opened, of the incidents that are fixed now
  friend bool operator==(IncidentMonth const&, IncidentMonth const&) = default;
};

/// The statistics that show how much verdicts can be trusted.
struct TrustFigures {
  std::vector<SeriesNoise> noise;  ///< last trust_nights, ordered by fleet, benchmark and metric
  std::vector<HostFigures> hosts;  ///< last trust_nights
  std::vector<AaMonth> aa_months;  ///< all nightlies, oldest month first
  std::vector<VerdictCost> costs;  ///< last costed_nights, ordered by verdict and pairs
  std::vector<IncidentMonth> incident_months{};  ///< all incidents, oldest month first
};

}  // namespace torchwatch
