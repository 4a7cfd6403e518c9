#pragma once

#include <optional>
#include <string>

#include "tests/e2e/world.h"

namespace torchwatch::bench {

/// How an answer compares with the commit that the lab planted.
enum class Grade {
  right,  ///< names exactly that commit; without one, reports no change
  range,  ///< names several commits, among them that one
  wrong,  ///< names another commit; without one, reports a change
  none,   ///< names no commit although there is one
};

/// "right".
std::string to_string(Grade grade);

/// One way from an announced nightly to an answer.
struct Lap {
  double seconds = 0;
  /// Until a benchmark was reported as slower, in whole seconds; empty if none was, and by hand,
  /// where that is given.
  std::optional<double> alarm_seconds{};
  int builds = 0;
  double build_seconds = 0;  ///< the part of `seconds` that successful builds took
  int processes = 0;         ///< workers that were started to measure
  Grade grade = Grade::none;
};

/// How the commits between two nightlies are bisected by hand.
struct ByHand {
  std::string benchmark;    ///< "test_eval[dcgan-cpu-eager]"
  double threshold = 0.07;  ///< a commit is bad when it is slower than the good end by more
};

/// The benchmark that the planted commit slows down, or one that the lab watches.
std::string suspected_benchmark(e2e::World const& world);

/// Builds and measures the first nightly once and keeps nothing: what is compiled or read from disk
/// once for all builds of a machine is then there for both contestants. Throws std::runtime_error.
void warm_up(e2e::World& world, std::string const& benchmark);

/// Runs `torchwatch check` until it reported. Throws std::runtime_error when it cannot judge the
/// nightly, or takes more than two hours.
Lap run_service(e2e::World& world);

/// Runs tests/bench/bisect-by-hand between the commits of both nightlies. Throws
/// std::runtime_error when it cannot build or measure, or takes more than two hours.
Lap run_by_hand(e2e::World& world, ByHand const& options);

}  // namespace torchwatch::bench
