#pragma once

#include <vector>

#include "bisect/compare/compare.h"
#include "storage/domain/comparison.h"
#include "tests/years/processes.h"

namespace torchwatch::years {

/// Whether two builds differ on series of one benchmark.
struct Question {
  Measured const& benchmark;
  std::vector<std::size_t> series;  ///< places of some of the benchmark's
  std::vector<Runner> pair;         ///< before, after
  Occasion when;
  double threshold = 0.07;
};

struct Answered {
  std::vector<SeriesChange> changes;             ///< one each
  std::vector<std::vector<bisect::Pair>> pairs;  ///< of changes[i]
  std::vector<JobOutcome> outcomes;              ///< all that was measured for it
};

/// Measures pairs until everything is decided, as the service does: bisect::Compare judges.
/// `outcomes`: rounds that were measured already.
Answered answer(Processes const& processes,
                Question const& question,
                Chance& chance,
                std::vector<JobOutcome> outcomes = {});

}  // namespace torchwatch::years
