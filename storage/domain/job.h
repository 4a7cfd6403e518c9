#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/ids.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/build.h"
#include "storage/domain/campaign.h"

namespace torchwatch {

/// Which measurement a job is. The same key is never measured twice: after a crash the stored
/// outcome is used, so that a step done again decides the same.
struct JobKey {
  Campaign campaign;  ///< what it is for
  std::string fleet;
  Benchmark benchmark;
  CommitSha commit;
  int round = 0;  ///< 0, 1, ...: repetitions inside the campaign
  friend auto operator<=>(JobKey const&, JobKey const&) = default;
};

/// Why a job gave no result.
enum class JobError {
  failed,         ///< the worker says so: the model threw, for one
  unsupported,    ///< this benchmark cannot be measured there: no such model, device or precision
  crashed,        ///< the worker died
  timeout,        ///< it took longer than it may
  memory,         ///< it held more memory than it may
  device,         ///< the GPU failed by itself, or was somebody else's
  device_memory,  ///< the GPU had too little memory left
  protocol,       ///< it spoke nonsense
  launch,         ///< it could not be started
  lost,           ///< the runner that held it vanished, again and again
};

std::string_view to_string(JobError error);
std::optional<JobError> parse_job_error(std::string_view text);

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
  std::optional<JobError> error_code;
  std::string error;        ///< for people: which signal, what was printed last
  std::string version;      ///< PyTorch's version as the worker saw it
  std::string fingerprint;  ///< JSON object: host, CPU, threads, libraries, ...
  double seconds = 0;       ///< wall-clock cost of the process
  Timestamp finished_at{};
  std::uint32_t seed = 0;  ///< what the orders of its round were drawn from: runner/turn_order.h
  int place = 0;           ///< its place in the round, from 0

  bool ok() const { return !error_code; }
};

/// One stored point of a series.
struct SeriesPoint {
  CommitSha commit;
  std::string date;  ///< of the nightly; empty for commits between nightlies
  Campaign campaign;
  MetricValue value;
  Timestamp measured_at{};
  std::uint32_t seed = 0;  ///< of its job
  int place = 0;
};

}  // namespace torchwatch
