#pragma once

#include <optional>
#include <string>

#include "tests/e2e/world.h"

namespace torchwatch::bench {

/// The grade of an answer, compared with the commit that the lab made slower.
enum class Grade {
  right,  ///< names exactly that commit; or reports no change when there is none
  range,  ///< names several commits, including that one
  wrong,  ///< names another commit; or reports a change when there is none
  none,   ///< names no commit although there is one
};

/// Returns the name of the grade, such as "right".
std::string to_string(Grade grade);

/// The cost and the grade of one contestant on one history.
struct Attempt {
  double seconds = 0;
  /// Whole seconds until a benchmark was reported as slower. Empty if none was, and by hand, where
  /// the benchmark is given.
  std::optional<double> alarm_seconds{};
  int builds = 0;
  double build_seconds = 0;  ///< the part of `seconds` that successful builds took
  int processes = 0;         ///< worker processes that measured
  Grade grade = Grade::none;
};

/// Options of a bisection by hand between the commits of two nightlies.
struct ByHand {
  std::string benchmark;    ///< "test_eval[dcgan-cpu-eager]"
  double threshold = 0.07;  ///< a commit is bad when it is slower than the good end by more
};

/// Returns the benchmark that the planted commit makes slower, or else one that the lab watches.
std::string suspected_benchmark(e2e::World const& world);

/// Builds and measures the first nightly once and discards the result. This fills the caches of
/// headers and disk for both contestants. Throws std::runtime_error.
void warm_up(e2e::World& world, std::string const& benchmark);

/// Runs `torchwatch check` to its end. Throws std::runtime_error when it cannot judge the nightly,
/// or takes more than two hours.
Attempt run_service(e2e::World& world);

/// Runs tests/bench/bisect-by-hand between the commits of both nightlies. Throws
/// std::runtime_error when it cannot build or measure, or takes more than two hours.
Attempt run_by_hand(e2e::World& world, ByHand const& options);

}  // namespace torchwatch::bench
