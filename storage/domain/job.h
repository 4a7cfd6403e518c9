#pragma once

#include <map>
#include <string>
#include <vector>

#include "storage/domain/benchmark.h"
#include "storage/domain/build.h"
#include "storage/domain/clock.h"
#include "storage/domain/ids.h"

namespace torchwatch {

/// Which measurement a job is. The same key is never measured twice: after a crash the stored
/// outcome is used, so that a step done again decides the same.
struct JobKey {
  std::string campaign;  ///< what it is for: "nightly/12", "bisect/3/recipe-2/proof/1a2b3c4d5e6f"
  std::string fleet;
  Benchmark benchmark;
  CommitSha commit;
  int round = 0;  ///< 0, 1, ...: repetitions inside the campaign
  friend auto operator<=>(JobKey const&, JobKey const&) = default;
};

/// Everything measured to judge a nightly: the sweep, and the pairs that confirm what it showed.
inline std::string campaign_of(NightlyId nightly) {
  return "nightly/" + std::to_string(nightly.value);
}

/// Where the campaigns of a search on builds by one recipe begin: "/nightlies", "/search",
/// "/packages", and a proof and a cure for each culprit. What another recipe builds of a commit is
/// measured anew.
inline std::string campaign_of(BisectionId bisection, RecipeId recipe) {
  return "bisect/" + std::to_string(bisection.value) + "/recipe-" + std::to_string(recipe.value);
}

/// The builds of an incident once more, for what their operators cost.
inline std::string profile_campaign_of(IncidentId incident) {
  return "profile/" + std::to_string(incident.value);
}

/// One metric as one process reported it.
struct MetricValue {
  double value = 0;             ///< the result, in the metric's unit
  std::vector<double> samples;  ///< what it was taken from: one number a run
  std::vector<int> outliers{};  ///< places in `samples` far from the rest; they count all the same
};

/// What an operator cost in one iteration, without what it called.
struct OperatorCost {
  std::string name;  ///< "aten::add.Tensor"
  double calls = 0;
  double ms = 0;
  double bytes = 0;  ///< of CPU tensors, that it allocated
  friend bool operator==(OperatorCost const&, OperatorCost const&) = default;
};

/// What one worker process gave: values, or an error, never both.
struct JobOutcome {
  JobKey key;
  std::map<Metric, MetricValue> values;
  /// Beside the metrics: memory in bytes ("rss_peak_bytes", ...), shares of a GPU's time, TFLOPS.
  std::map<std::string, double> accounts;
  std::vector<OperatorCost> profile;  ///< empty unless it was asked for
  std::string
      error_code;     ///< empty, or "crashed", "timeout", "memory", "protocol", "launch", "failed"
  std::string error;  ///< for people: which signal, what was printed last
  std::string version;      ///< PyTorch's version as the worker saw it
  std::string fingerprint;  ///< JSON object: host, CPU, threads, libraries, ...
  double seconds = 0;       ///< wall-clock cost of the process
  Timestamp finished_at{};

  bool ok() const { return error_code.empty(); }
};

/// One stored point of a series.
struct SeriesPoint {
  CommitSha commit;
  std::string date;  ///< of the nightly; empty for commits between nightlies
  std::string campaign;
  MetricValue value;
  Timestamp measured_at{};
};

/// What a nightly's own build gave of a series, one value a process.
struct NightlyLevel {
  NightlyId nightly;
  std::string date;
  CommitSha commit;
  std::vector<double> values;
};

}  // namespace torchwatch
