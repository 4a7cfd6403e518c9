#pragma once

/// The messages between service, runner and worker: one JSON object per line, whose `type` is the
/// kind of message. This is their only description in C++. It uses only C++17, the standard library
/// and nlohmann/json, because the worker is compiled against every version of PyTorch.
///
/// Service and runner exchange messages on the runner's standard input and output, runner and
/// worker on the worker's. Each conversation begins with the `hello` of the runner or worker. Each
/// `job` is answered by any number of `progress` messages, and then by exactly one `result` or
/// `error` with its id. Exit statuses do not count. Both programs end when their input ends.
///
/// The runner also takes a `round`: jobs whose workers run side by side, one working at a time. A
/// worker of such a job sends `ready` and waits for its `turn`: before it builds the model, before
/// every timed run, and after the last run.

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace torchwatch::protocol {

/// The version of the protocol, in each hello. A worker or runner with another one is rejected.
inline constexpr int version = 5;
/// The largest length of a line. A longer one is a protocol error.
inline constexpr std::size_t max_line_bytes = 8 * 1024 * 1024;
/// The most levels of nesting. More are a protocol error.
inline constexpr int max_depth = 16;
/// The largest length of each text in messages of a runner or worker, because these are stored and
/// shown. A longer one is a protocol error. encode() cuts the text of a failure to it.
inline constexpr std::size_t max_text_bytes = 4096;

/// The first message of a runner or worker.
struct Hello {
  int protocol = version;
  std::string role;                  ///< "runner" or "worker"
  std::string pytorch_version;       ///< worker only; "1.13.1"
  std::string git_hash;              ///< worker only; empty when the build does not contain it
  std::vector<std::string> devices;  ///< worker only: "cpu", "cuda"
  nlohmann::json fingerprint = nlohmann::json::object();
};

/// The build of a job, and the command that starts its worker.
struct BuildRef {
  std::string prefix;
  std::string worker;                      ///< executable
  std::vector<std::string> launcher;       ///< command prefix
  std::map<std::string, std::string> env;  ///< variables, added to those the worker inherits
  std::vector<std::string> preload;        ///< absolute paths for LD_PRELOAD
};

/// Options of a measurement. Units are in the names.
struct Measure {
  int runs = 10;
  int warmup = 3;  ///< steps in a row that get no faster before the first timed run
  double min_run_ms = 20;
  int threads = 1;
  int leak_iterations = 20;
  std::int64_t seed = 1337;
  std::string scale = "full";      ///< "full" or "smoke"
  std::string precision = "fp32";  ///< "fp32", "fp16", "bf16", or "amp": mixed automatically
  std::string tf32 = "default";    ///< "on": CUDA may round factors of fp32 products to ten bits;
                                   ///< "off": it may not; "default": PyTorch's own setting
  std::int64_t batch = 0;          ///< samples per iteration; 0: the model's own for the scale
  std::string models;              ///< directory of models in files, on the measuring host
  bool profile = false;            ///< also report the cost of each operator
  bool pin = true;                 ///< the runner binds CPU benchmarks to CPUs of their own
};

/// The limits that the runner enforces on a worker.
struct Limits {
  double timeout_s = 600;                              ///< without the time it waits for turns
  std::int64_t memory_bytes = std::int64_t{20} << 30;  ///< resident, in all processes of the worker
};

/// The compile caches of a job: read by the runner, which fills them before it measures.
struct Caches {
  /// Environment variables, each of which names a cache directory of the worker.
  std::vector<std::string> variables;
  /// Directory of the build's caches on the measuring host. Empty: none are kept.
  std::string directory;
  std::string fill;         ///< "a" or "b": which of the build's two fills the job uses
  bool is_filling = false;  ///< the job fills its caches, and its result is discarded
};

/// The request to measure one benchmark on one build in one process.
struct Job {
  std::string id;
  std::string benchmark;  ///< "test_eval[resnet50-cpu-eager]"
  BuildRef build;         ///< read by the runner; the worker ignores it
  Measure measure;
  Limits limits;  ///< read by the runner
  bool takes_turns = false;
  /// The metrics that the result must have, and no others. Empty: those of the native suite, of
  /// which "latency" is required.
  std::vector<std::string> metrics{};
  /// Those of `metrics` that are exact: one sample, and the same value in each run.
  std::vector<std::string> exact{};
  /// The command that torchwatch-command runs, with {model}, {test}, {backend}, {device} and
  /// {prefix} in its words. Empty for other workers.
  std::vector<std::string> command{};
  bool waits = false;  ///< the command reads a line before each run
  /// Paths that the worker may read in addition to those of its host's fleet; read by the runner.
  std::vector<std::string> readable{};
  Caches caches{};
};

/// The request to measure jobs in one process each. The processes take turns run by run, so that
/// disturbances of the host affect all of them. They are started in this order. The order of turns
/// is drawn from `seed` (runner/turn_order.h), a new random number of the service for each round.
/// With `one_by_one` each process starts when the one before has ended, for devices without enough
/// memory for all.
struct Round {
  std::vector<Job> jobs;
  std::uint32_t seed = 0;
  bool one_by_one = false;
};

/// The worker waits for its turn.
struct Ready {
  std::string id;
};

/// The worker may go on until it is ready again or answers.
struct Turn {
  std::string id;
};

/// The phase of a round that waits for the locks of its host. The runner sends it for the first
/// job, every ten seconds. Waiting does not count towards time limits.
constexpr auto waiting = "waiting";

/// The progress of a job within a phase.
struct Progress {
  std::string id;
  std::string phase;  ///< "build", "warmup", "latency", "memory", "leak", "profile", or `waiting`
  int done = 0;
  int total = 0;
};

/// One metric: its value and the samples that it was computed from, in the metric's unit.
struct Value {
  double value = 0;
  std::vector<double> samples;
  std::vector<int> outliers{};  ///< indices of outliers in `samples`; they count like the others
};

/// The cost of an operator per iteration, without the operators that it calls. On a GPU it is the
/// work that the operator launched: `calls` are launches, and `ms` is the device's time.
struct OperatorCost {
  std::string name;  ///< "aten::add.Tensor"
  double calls = 0;
  double ms = 0;
  double bytes = 0;  ///< allocated for CPU tensors
};

/// The result of a job.
struct Outcome {
  std::string id;
  std::string benchmark;
  std::map<std::string, Value> metrics;  ///< keys: Job::metrics
  /// Numbers in addition to the metrics, which verdicts do not use:
  /// - memory, in bytes: "rss_peak_bytes", "gpu_reserved_peak_bytes", "gpu_requested_peak_bytes",
  ///   "gpu_device_used_bytes"
  /// - a profile on a GPU: "gpu_trace_events"; unless that is 0, "gpu_active_share",
  ///   "gpu_data_movement_share" and "gpu_idle_share", which add up to 1; and "tflops", achieved
  /// - the state of the GPU, added by the runner: see runner/gpu_watch.h
  /// - "cache_misses": graphs that the worker compiled because its caches did not hold them; above
  ///   0, it fails a job whose caches were filled
  /// - "gpu_process_peak_bytes", added by the runner: the driver's account of the worker's GPU
  ///   memory, with its context, while memory is measured
  std::map<std::string, double> accounts;
  std::vector<OperatorCost> profile;  ///< empty unless requested
  std::string pytorch_version;
  std::string git_hash;
  nlohmann::json fingerprint =
      nlohmann::json::object();  ///< describes host and build; identical for all their jobs
  double seconds = 0;
};

/// The code of a failure of the host: it could not start any worker. Only the runner sends it. The
/// failure is unrelated to the job, so the service measures the round again.
constexpr auto host_trouble = "host";

/// The failure of a job. Codes of the runner: "crashed", "timeout", "memory", "protocol", "launch",
/// "cache" (caches.h), `host_trouble`, and "device" (gpu_watch.h, hooks). Codes of the worker:
/// "unsupported", "device", "device_memory", "failed" (worker/failure.h).
struct Failure {
  std::string id;  ///< empty: not about a job
  std::string code;
  std::string text;
};

/// Any message. Its `type`: hello, job, round, ready, turn, progress, result, error.
using Message = std::variant<Hello, Job, Round, Ready, Turn, Progress, Outcome, Failure>;

/// Returns the value of `type`.
std::string type_of(Message const& message);

/// The error of a line that is not a message: not JSON, not an object, an unknown type, a field of
/// the wrong type, a line or text that is too long, or too many levels.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the message as one line, without the newline. Replaces invalid UTF-8. Cuts the text of a
/// failure so that it has at most `max_text_bytes`.
std::string encode(Message const& message);

/// Reads a line that `encode` made. Ignores unknown fields. Throws ProtocolError.
Message decode(std::string const& line);

}  // namespace torchwatch::protocol
