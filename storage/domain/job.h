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

/// The identity of a measurement. A key is never measured twice. After a crash the stored outcome
/// is used, so a repeated step reaches the same decision.
struct JobKey {
  Campaign campaign;  ///< its purpose
  std::string fleet;
  Benchmark benchmark;
  CommitSha commit;
  int round = 0;  ///< repetition within the campaign, from 0
  friend auto operator<=>(JobKey const&, JobKey const&) = default;
};

/// The reason why a job has no result.
enum class JobError {
  failed,         ///< the worker reported an error, for example an exception of the model
  unsupported,    ///< the host has no such model, device or precision
  crashed,        ///< the worker died
  timeout,        ///< the worker exceeded its time limit
  memory,         ///< the worker exceeded its memory limit
  device,         ///< the GPU failed, or other programs used it
  device_memory,  ///< the GPU had too little free memory
  protocol,       ///< the worker sent an invalid message
  launch,         ///< the worker could not be started
  cache,          ///< the worker compiled code that its filled caches did not hold
  lost,           ///< the runner that held the job vanished, several times
};

std::string_view to_string(JobError error);
std::optional<JobError> parse_job_error(std::string_view text);

/// The value of one metric that one process reported.
struct MetricValue {
  double value = 0;             ///< the result, in the metric's unit
  std::vector<double> samples;  ///< the values of the runs, from which `value` was computed
  std::vector<int> outliers{};  ///< places in `samples` far from the rest; still part of `value`
};

/// The cost of an operator in one iteration, without the operators that it called.
struct OperatorCost {
  std::string name;  ///< "aten::add.Tensor"
  double calls = 0;
  double ms = 0;
  double bytes = 0;  ///< memory of CPU tensors that it allocated
  friend bool operator==(OperatorCost const&, OperatorCost const&) = default;
};

/// The result of one worker process: values or an error, never both.
struct JobOutcome {
  JobKey key;
  std::map<Metric, MetricValue> values;
  /// More values: memory in bytes ("rss_peak_bytes", ...), shares of a GPU's time, TFLOPS.
  std::map<std::string, double> accounts;
  std::vector<OperatorCost> profile;  ///< empty unless a profile was requested
  std::optional<JobError> error_code;
  std::string error;        ///< for people: the signal, and the last output
  std::string version;      ///< PyTorch's version that the worker reported
  std::string fingerprint;  ///< JSON object: host, CPU, threads, libraries, ...
  double seconds = 0;       ///< wall-clock cost of the process
  Timestamp finished_at{};
  std::uint32_t seed = 0;  ///< determines the random orders of its round: runner/turn_order.h
  int place = 0;           ///< its place in the round, from 0
  int slot = 0;            ///< number of the slot that measured it, from 0

  bool ok() const { return !error_code; }
};

/// One stored point of a series.
struct SeriesPoint {
  CommitSha commit;
  std::string date;  ///< date of the nightly; empty for commits between nightlies
  Campaign campaign;
  MetricValue value;
  Timestamp measured_at{};
  std::uint32_t seed = 0;  ///< seed and place of its job
  int place = 0;
};

}  // namespace torchwatch
