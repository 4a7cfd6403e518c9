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

/// The summary of one nightly on one series, in the metric's unit. It is kept permanently.
struct NightOfSeries {
  NightlyId nightly;
  std::string date;                ///< date of the nightly
  CommitSha commit;                ///< commit of the nightly
  double level = 0;                ///< median of its processes
  double low = 0;                  ///< minimum of its processes
  double high = 0;                 ///< maximum of its processes
  int processes = 0;               ///< number of processes of the nightly's own build
  std::optional<Verdict> verdict;  ///< absent when the screening left nothing to compare
  std::int64_t host = 0;           ///< number of the host, for Histories::fingerprint
  /// True when later nightlies may be compared with this one: the series was compared with an
  /// earlier nightly and decided, or there was no earlier nightly.
  bool is_judged = false;
};

/// The level of one series of a nightly.
struct LevelOfSeries {
  Series series;
  double level = 0;  ///< in the metric's unit
};

/// A series and some of its nightly summaries, in the order of nightlies.
struct SeriesNights {
  Series series;
  std::vector<NightOfSeries> nights;
};

}  // namespace torchwatch
