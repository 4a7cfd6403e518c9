#pragma once

/// The messages between service, runner and worker: one JSON object a line, told apart by `type`.
/// The only description of them in C++. C++17, standard library and nlohmann/json alone: the worker
/// is compiled against every PyTorch there is.
///
/// Service and runner speak on the runner's standard input and output, runner and worker on the
/// worker's. Both begin with the lower side's `hello`. Each `job` is answered by any number of
/// `progress` and then by exactly one `result` or `error` with its id; only that counts, never an
/// exit status. End of input ends both programs.
///
/// The runner also takes a `round`: jobs whose workers live side by side and work one at a time. A
/// worker of such a job says `ready` and goes on when it is told `turn`: once before it builds the
/// model, before every timed run, and once after the last.

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace torchwatch::protocol {

/// Of a hello; whoever speaks another one is refused.
inline constexpr int version = 4;
/// A longer line breaks the protocol.
inline constexpr std::size_t max_line_bytes = 8 * 1024 * 1024;
/// Deeper nesting does, too.
inline constexpr int max_depth = 16;
/// And a longer text of a runner or worker, since that is kept and shown. What fails at length is
/// cut to it.
inline constexpr std::size_t max_text_bytes = 4096;

/// Who answers, and what it is.
struct Hello {
  int protocol = version;
  std::string role;                  ///< "runner" or "worker"
  std::string pytorch_version;       ///< worker only; "1.13.1"
  std::string git_hash;              ///< worker only; empty when the build does not tell
  std::vector<std::string> devices;  ///< worker only: "cpu", "cuda"
  nlohmann::json fingerprint = nlohmann::json::object();
};

/// The build a job runs on, and how its worker is started.
struct BuildRef {
  std::string prefix;
  std::string worker;                      ///< executable
  std::vector<std::string> launcher;       ///< command prefix
  std::map<std::string, std::string> env;  ///< added to the runner's own
  std::vector<std::string> preload;        ///< absolute paths for LD_PRELOAD
};

/// How to measure. Durations in milliseconds or seconds as named.
struct Measure {
  int runs = 10;
  int warmup = 3;  ///< steps in a row that get no faster before the first timed run
  double min_run_ms = 20;
  int threads = 1;
  int leak_iterations = 20;
  std::int64_t seed = 1337;
  std::string scale = "full";      ///< "full" or "smoke"
  std::string precision = "fp32";  ///< "fp32", "fp16", "bf16", or "amp": mixed automatically
  std::string tf32 = "default";    ///< "on", "off": CUDA may round factors of fp32 products to ten
                                   ///< bits; "default": where PyTorch lets it by itself
  std::int64_t batch = 0;          ///< samples in an iteration; 0: the model's own for the scale
  std::string models;              ///< directory of models that come as files, where it measures
  bool profile = false;            ///< also tell what each operator costs
  bool pin = true;                 ///< to cores of its own; done by the runner, for CPU benchmarks
};

/// What the runner holds a worker to.
struct Limits {
  double timeout_s = 600;                              ///< not counting what it waits for its turns
  std::int64_t memory_bytes = std::int64_t{20} << 30;  ///< resident, whole process group
};

/// Measure one benchmark on one build in one process.
struct Job {
  std::string id;
  std::string benchmark;  ///< "test_eval[resnet50-cpu-eager]"
  BuildRef build;         ///< read by the runner; the worker ignores it
  Measure measure;
  Limits limits;  ///< read by the runner
  bool takes_turns = false;
};

/// Measure these, each in a process of its own, taking turns run by run: what the host does to one
/// it does to all. They are started in this order, and take turns in orders drawn from `seed`
/// (runner/turn_order.h), which the service draws anew for each round. `one_by_one`: each when the
/// one before has ended, since a device has no room for them together.
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

/// The phase of a round that has not begun, since others measure on its host: of its first job.
/// Says the runner every ten seconds, and no limit of time counts meanwhile.
constexpr auto waiting = "waiting";

struct Progress {
  std::string id;
  std::string phase;  ///< "build", "warmup", "latency", "memory", "leak", "profile", or `waiting`
  int done = 0;
  int total = 0;
};

/// One metric: the value that counts and the samples it was taken from, in the metric's unit.
struct Value {
  double value = 0;
  std::vector<double> samples;
  std::vector<int> outliers{};  ///< places in `samples` far from the rest; they count all the same
};

/// What an operator costs in one iteration, without what it calls; on a GPU what it had the device
/// do: `calls` are launches, and `ms` is the device's time.
struct OperatorCost {
  std::string name;  ///< "aten::add.Tensor"
  double calls = 0;
  double ms = 0;
  double bytes = 0;  ///< of CPU tensors, that it allocated
};

struct Outcome {
  std::string id;
  std::string benchmark;
  std::map<std::string, Value> metrics;  ///< by metric name: "latency", "cmem", "gmem", "leak"
  /// Beside the metrics. Other accounts of the memory, in bytes: "rss_peak_bytes",
  /// "gpu_reserved_peak_bytes", "gpu_requested_peak_bytes", "gpu_device_used_bytes". Of a profile
  /// on a GPU: "gpu_trace_events" and, unless that is 0, "gpu_active_share",
  /// "gpu_data_movement_share", "gpu_idle_share", which sum up to 1; and "tflops", achieved. Of the
  /// GPU itself, by the runner: runner/gpu_watch.h, and what the driver says that the worker held
  /// of it while its memory was measured, context and all: "gpu_process_peak_bytes".
  std::map<std::string, double> accounts;
  std::vector<OperatorCost> profile;  ///< empty unless asked for
  std::string pytorch_version;
  std::string git_hash;
  nlohmann::json fingerprint =
      nlohmann::json::object();  ///< the same for every job of a host and build
  double seconds = 0;
};

/// The code of a failure that is the host's: it could not start a worker, whatever the worker is.
/// The runner's alone. It says nothing of the job, and the round is to be measured again.
constexpr auto host_trouble = "host";

/// The job failed. Codes: "crashed", "timeout", "memory", "protocol", "launch", `host_trouble` are
/// the runner's; "unsupported", "device", "device_memory", "failed" the worker's
/// (worker/failure.h).
struct Failure {
  std::string id;  ///< empty: not about a job
  std::string code;
  std::string text;
};

/// `type`: hello, job, round, ready, turn, progress, result, error.
using Message = std::variant<Hello, Job, Round, Ready, Turn, Progress, Outcome, Failure>;

/// The value of `type`.
std::string type_of(Message const& message);

/// The line was no message: not JSON, not an object, an unknown type, a field of the wrong type,
/// too long, too deep, with too long a text.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One line without the newline. Text that is not UTF-8 is repaired, never refused; that of a
/// failure is cut to `max_text_bytes`.
std::string encode(Message const& message);

/// The inverse of encode. Unknown fields are ignored. Throws ProtocolError.
Message decode(std::string const& line);

}  // namespace torchwatch::protocol
