#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/build.h"
#include "storage/domain/comparison.h"

namespace torchwatch {

/// What one night came to on one series, in the metric's unit: what stays of it for ever.
struct NightOfSeries {
  NightlyId nightly;
  std::string date;                ///< of the nightly
  CommitSha commit;                ///< that it was built from
  double level = 0;                ///< median of its processes
  double low = 0;                  ///< the least of them ...
  double high = 0;                 ///< ... and the most
  int processes = 0;               ///< of the nightly's own build
  std::optional<Verdict> verdict;  ///< none where the screen left nothing to compare
  std::int64_t host = 0;           ///< its number, for Histories::fingerprint
  /// The series was compared with an earlier nightly and decided, or there was none to compare it
  /// with: later nightlies may be compared with this one.
  bool is_judged = false;
};

/// The level of one of the series that a night measured.
struct LevelOfSeries {
  Series series;
  double level = 0;  ///< in the metric's unit
};

/// A series and some of its nights, in the order of nightlies.
struct SeriesNights {
  Series series;
  std::vector<NightOfSeries> nights;
};

}  // namespace torchwatch
