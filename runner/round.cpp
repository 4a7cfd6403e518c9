#include "runner/round.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "runner/caches.h"
#include "runner/gpu_watch.h"
#include "runner/process/child_process.h"
#include "runner/process/process_tree.h"
#include "runner/process/scratch_directory.h"
#include "runner/python_packages.h"
#include "runner/turns.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::runner {

namespace asio = boost::asio;
using protocol::Failure;
using protocol::Message;

namespace {

/// Names of the links in a worker's directory: to the build, and, in a sandbox, to the directory of
/// its Python packages.
constexpr auto build_link = "build";
constexpr auto packages_link = "packages";

std::string preload_of(protocol::BuildRef const& build) {
  std::string joined;
  for (auto const& library : build.preload)
    joined += (joined.empty() ? "" : ":") + library;
  return joined;
}

bool is_of_gpu(protocol::Job const& job) {
  auto const benchmark = parse_benchmark(job.benchmark);
  return benchmark && benchmark->device != Device::cpu;
}

/// Returns the CPUs of a worker; empty: any. CUDA's own threads would disturb each other on as few
/// CPUs as a CPU job has. So the workers of a GPU round use all CPUs near the GPU, which reach it
/// fastest. A worker that fills caches is not measured, and Inductor compiles on all its CPUs, so
/// it has all that disturb no other round.
std::vector<int> processors_for(protocol::Job const& job, WorkerEnvironment const& surroundings) {
  auto const benchmark = parse_benchmark(job.benchmark);
  if (!job.measure.pin || !benchmark) return {};
  if (benchmark->device == Device::cpu) {
    bool const may_spread = job.caches.is_filling && !surroundings.beside_others;
    return may_spread ? surroundings.processors.spare(job.measure.threads)
                      : surroundings.processors.pick(job.measure.threads);
  }
  return surroundings.nvml
             ? surroundings.processors.among(surroundings.nvml->processors_near(surroundings.gpu))
             : std::vector<int>{};
}

/// Variables with which operators tune libraries on a measuring host. A build adds its own.
std::vector<std::string> const tuning{
    "OMP_*",  "KMP_*",   "GOMP_*",    "MKL_*",    "OPENBLAS_*",     "DNNL_*",         "ONEDNN_*",
    "ATEN_*", "TORCH_*", "PYTORCH_*", "CUDA_*",   "NVIDIA_*",       "CUBLAS_*",       "CUDNN_*",
    "HIP_*",  "ROCR_*",  "HSA_*",     "MALLOC_*", "GLIBC_TUNABLES", "LD_LIBRARY_PATH"};

/// Returns the command that starts a worker. The launcher does not get the build's variables, nor
/// does the sandbox, because both must run without the build's preloaded allocator.
process::Command worker_command(protocol::Job const& job,
                                WorkerEnvironment const& surroundings,
                                bool is_first) {
  auto const& build = job.build;
  auto variables = build.env;
  if (is_of_gpu(job))
    for (auto const& [name, value] : gpu_variables(surroundings))
      variables[name] = value;
  if (!build.preload.empty()) variables["LD_PRELOAD"] = preload_of(build);

  process::Command command;
  command.inherits = tuning;
  command.inherits.insert(
      command.inherits.end(), surroundings.environment.begin(), surroundings.environment.end());
  command.argv = build.launcher;
  if (is_first && build.launcher.empty()) {
    command.env = std::move(variables);
  } else if (!variables.empty()) {
    command.argv.emplace_back("env");
    for (auto const& [name, value] : variables)
      command.argv.push_back(name + '=' + value);
  }
  command.argv.push_back(build.worker);
  return command;
}

std::string folder_of(std::string const& file) {
  return std::filesystem::path{file}.parent_path().string();
}

/// True for a directory that holds the installed package torch, as an unpacked wheel does.
bool is_site_packages(std::filesystem::path const& directory) {
  std::error_code problem;
  for (std::filesystem::directory_iterator entry{directory, problem}, end; !problem && entry != end;
       entry.increment(problem)) {
    auto const name = entry->path().filename().string();
    if (name.starts_with("torch-") && name.ends_with(".dist-info")) return true;
  }
  return false;
}

/// The whole build: the prefix, or the packages around it. The libraries of a CUDA wheel load
/// others from nvidia/ next to torch/.
std::string directory_of(std::string const& prefix) {
  std::filesystem::path const path{prefix};
  bool const is_package = path.filename() == "torch" && is_site_packages(path.parent_path());
  return is_package ? path.parent_path().string() : prefix;
}

/// Returns the sandbox of a worker. It sees its own build, but not other builds. Paths outside of
/// the build that the build names are not made readable: a `preload` of "/x.so" would show the
/// whole host.
process::Sandbox sandbox_for(protocol::Job const& job, WorkerEnvironment const& surroundings) {
  process::Sandbox sandbox;
  sandbox.readable = surroundings.readable;
  sandbox.readable.insert(sandbox.readable.end(), job.readable.begin(), job.readable.end());
  sandbox.hidden = surroundings.hidden;
  auto const& build = job.build;
  if (!build.prefix.empty()) {
    sandbox.readable.push_back(directory_of(build.prefix));
    sandbox.links = {{build_link, build.prefix}};
  }
  if (auto packages = python_packages_of(build.prefix); !packages.empty()) {
    sandbox.readable.push_back(packages);
    sandbox.links.emplace_back(packages_link, std::move(packages));
  }
  bool const is_in_build = !build.prefix.empty() && build.worker.starts_with(build.prefix + '/');
  if (build.worker.starts_with('/') && !is_in_build) {  // the operator's
    std::error_code problem;
    auto const target = std::filesystem::canonical(build.worker, problem).string();
    sandbox.readable.push_back(folder_of(build.worker));
    if (!problem) sandbox.readable.push_back(folder_of(target));
  }
  if (!job.measure.models.empty()) sandbox.readable.push_back(job.measure.models);
  std::erase_if(sandbox.readable, [](std::string const& path) {
    return !std::filesystem::exists(path);  // a program that needs it reports a clearer error
  });
  if (is_of_gpu(job)) sandbox.devices = process::gpu_devices();
  sandbox.memory_bytes = std::max<std::int64_t>(job.limits.memory_bytes, 1);
  sandbox.has_network = surroundings.has_network;
  return sandbox;
}

/// Returns the job with each path into its prefix replaced by one through the link, so that all
/// builds have the same path. The length of a path shifts later allocations of the process. The
/// changed alignment of tensors alone made identical builds differ by half (Mytkowicz et al. 2009,
/// Producing wrong data without doing anything obviously wrong).
protocol::Job through_link(protocol::Job job) {
  auto const inside = job.build.prefix + '/';
  auto const rename = [&inside](std::string& path) {
    if (path.starts_with(inside)) path.replace(0, inside.size() - 1, build_link);
  };
  rename(job.build.worker);
  for (auto& library : job.build.preload)
    rename(library);
  job.build.prefix = build_link;
  return job;
}

Failure failure_of(protocol::Job const& job, Fault const& fault) {
  auto const& prefix = job.build.prefix;
  auto const build = prefix.empty() ? "the system's PyTorch" : prefix;
  return {job.id, fault.code, job.benchmark + " on " + build + ": " + fault.text};
}

/// Returns the failure of a worker that could not be started. `unavailable` is not the fault of the
/// build: the host lacks resources, or a directory for the worker.
Failure launch_failure_of(protocol::Job const& job, Error const& error) {
  bool const is_of_host = error.code == ErrorCode::unavailable;
  return failure_of(job, Fault{is_of_host ? protocol::host_trouble : "launch", error.message});
}

/// Tries a sandbox. Fails with the host's reason when it cannot run any program in one now.
asio::awaitable<Result<>> try_isolation(process::Isolation isolation) {
  if (isolation == process::Isolation::none) co_return Result<>{};
  auto const executor = co_await asio::this_coro::executor;
  auto const found = co_await process::find_isolation(executor);
  if (!found) co_return found.error();
  co_return Result<>{};
}

/// Blames the host for a `launch` fault when the host cannot start any sandboxed program now. It
/// tries that out, because the worker's own output cannot be trusted.
asio::awaitable<Fault> with_host_checked(Fault fault, process::Isolation isolation) {
  if (fault.code != "launch") co_return fault;
  auto const tried = co_await try_isolation(isolation);
  if (tried) co_return fault;
  fault.code = protocol::host_trouble;
  fault.text += "; this host cannot keep any worker in a sandbox now: " + tried.error().message;
  co_return fault;
}

/// Variables of directories in which programs keep files for later processes. In a sandbox their
/// defaults are private. XDG_CACHE_HOME is not among them, because it also has downloaded weights.
constexpr std::array kept_by_default{"TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR"};

/// Points the default caches of a worker without a sandbox to its own directory, so that builds
/// share none. Inductor's is below TMPDIR.
void redirect_caches(process::Command& command, std::string const& directory) {
  command.env.try_emplace("TMPDIR", directory);
  for (auto const* const variable : kept_by_default)
    command.env.try_emplace(variable, directory + '/' + variable);
}

/// A worker, and its directory.
struct Launched {
  std::optional<process::ScratchDirectory> directory;  ///< none in a sandbox
  process::ChildProcess worker;
};

Result<Launched> start_worker(asio::any_io_executor const& executor,
                              protocol::Job const& job,
                              protocol::Job const& given,
                              WorkerEnvironment const& surroundings,
                              std::string const& caches) {
  bool const is_sandboxed = surroundings.isolation != process::Isolation::none;
  auto command = worker_command(given, surroundings, !is_sandboxed);
  command.processors = processors_for(job, surroundings);
  std::optional<process::ScratchDirectory> directory;
  if (is_sandboxed) {
    command.env["HOME"] = command.env["TMPDIR"] = "/tmp";
    auto sandbox = sandbox_for(job, surroundings);
    if (!caches.empty()) sandbox.placed = {{caches, caches_in_sandbox}};
    command.argv = sandboxed(surroundings.isolation, sandbox, std::move(command.argv));
  } else {
    auto made = process::ScratchDirectory::make();
    if (!made) return made.error();
    directory.emplace(std::move(*made));
    command.directory = directory->path();
    redirect_caches(command, directory->path());
    auto const linked =
        job.build.prefix.empty() ? Result<>{} : directory->link(build_link, job.build.prefix);
    if (!linked) return linked.error();
  }
  auto worker = process::ChildProcess::start(executor, std::move(command));
  if (!worker) return worker.error();
  return Launched{std::move(directory), std::move(*worker)};
}

/// The peak GPU memory of a worker, as the driver reports it: with its context and memory that
/// PyTorch's allocator did not allocate.
class DriverMemory {
 public:
  DriverMemory(WorkerEnvironment const& surroundings, pid_t worker, bool is_sandboxed)
      : surroundings_{surroundings},
        tree_{worker, is_sandboxed} {}

  /// Reads the memory, at most eight times and only in phases that are not timed, because drivers
  /// are slow to reply and a worker could send any number of messages.
  void look(protocol::Progress const& progress) {
    if (!surroundings_.nvml || (progress.phase != "memory" && progress.phase != "leak")) return;
    if (looks_left_ == 0) return;
    --looks_left_;
    std::int64_t held = 0;
    for (auto const& [pid, bytes] : surroundings_.nvml->memory_by_process(surroundings_.gpu))
      if (tree_.has(pid)) held += bytes;
    most_ = std::max(most_, held);
  }

  void note(protocol::Outcome& outcome) const {
    if (most_ > 0) outcome.accounts["gpu_process_peak_bytes"] = static_cast<double>(most_);
  }

 private:
  WorkerEnvironment const& surroundings_;
  process::ProcessTree tree_;
  int looks_left_ = 8;  // our worker needs three
  std::int64_t most_ = 0;
};

/// Returns the directory in which a worker finds the Python packages of its build; empty: none. In
/// a sandbox that is a link with the same path for all builds. Without one, a link would have
/// another path in each process, and the keys of Inductor's caches contain paths of headers.
std::string packages_for(protocol::BuildRef const& build, bool is_sandboxed) {
  auto packages = python_packages_of(build.prefix);
  bool const has_link = is_sandboxed && build.launcher.empty() && !packages.empty();
  return has_link ? process::Sandbox{}.directory + '/' + packages_link : packages;
}

/// Has Python find the packages of the build before the operator's, and order sets alike in every
/// process.
void import_from(std::string const& packages, std::map<std::string, std::string>& variables) {
  auto& path = variables["PYTHONPATH"];
  path = path.empty() ? packages : packages + ':' + path;
  variables.try_emplace("PYTHONHASHSEED", "0");
  variables.try_emplace("PYTHONNOUSERSITE", "1");
}

/// Returns the job as its worker gets it: with the link for the prefix, its Python packages, and
/// its private caches in `caches`. In a sandbox, no text in it depends on the build's name.
protocol::Job given_to_worker(protocol::Job const& job,
                              WorkerEnvironment const& surroundings,
                              std::string const& caches) {
  // A launcher may not see the link, and the system's own PyTorch has no prefix.
  bool const has_link = job.build.launcher.empty() && !job.build.prefix.empty();
  bool const is_sandboxed = surroundings.isolation != process::Isolation::none;
  auto given = has_link ? through_link(job) : job;
  auto const packages = packages_for(job.build, is_sandboxed);
  if (!packages.empty()) import_from(packages, given.build.env);
  given.caches.directory.clear();
  if (caches.empty()) return given;
  std::string const place = is_sandboxed ? caches_in_sandbox : caches;
  for (auto const& variable : job.caches.variables)
    given.build.env[variable] = place + '/' + variable;
  return given;
}

/// Runs a job in a worker process. `caches`: directory of its private caches; empty: none.
asio::awaitable<Message> run_worker(protocol::Job const& job,
                                    WorkerEnvironment const& surroundings,
                                    ProgressSink const& on_progress,
                                    TurnSlot& slot,
                                    std::string const& caches) {
  auto const given = given_to_worker(job, surroundings, caches);
  auto const executor = co_await asio::this_coro::executor;
  auto launched = start_worker(executor, job, given, surroundings, caches);
  if (!launched) co_return launch_failure_of(job, launched.error());
  Started const worker{launched->worker, !launched->directory};
  DriverMemory memory{surroundings, launched->worker.pid(), worker.is_sandboxed};
  ProgressSink const watched = [&](protocol::Progress const& progress) {
    if (is_of_gpu(job)) memory.look(progress);
    on_progress(progress);
  };
  auto outcome = co_await supervise(given, watched, slot, worker);
  if (!outcome) {
    auto fault = outcome.error();
    auto const checked = co_await with_host_checked(std::move(fault), surroundings.isolation);
    co_return failure_of(job, checked);
  }
  memory.note(*outcome);
  co_return std::move(*outcome);
}

/// Returns the failure of a job that compiled what its filled caches should hold; nothing when it
/// did not.
std::optional<Failure> miss_of(protocol::Job const& job, protocol::Outcome const& outcome) {
  auto const misses = outcome.accounts.find("cache_misses");
  if (misses == outcome.accounts.end() || misses->second <= 0) return std::nullopt;
  auto const count = std::to_string(static_cast<std::int64_t>(misses->second));
  return failure_of(job,
                    Fault{"cache",
                          "found " + count +
                              " compiled graphs that its filled caches lack, allowed are none; the "
                              "caches are filled again; if that does not help, the code of the "
                              "model changes between processes: remove caches from its suite"});
}

/// Stores the caches that a job has filled, or checks that it needed no others.
asio::awaitable<Message> settle_caches(protocol::Job const& job,
                                       Message answer,
                                       std::filesystem::path const& filled,
                                       std::string const& caches) {
  auto const* const outcome = std::get_if<protocol::Outcome>(&answer);
  if (outcome == nullptr) co_return answer;
  if (job.caches.is_filling) {
    auto const stored = co_await store_caches(caches, filled, job.limits.memory_bytes);
    if (stored) co_return answer;
    co_return failure_of(job, Fault{"cache", stored.error().message});
  }
  auto miss = miss_of(job, *outcome);
  if (!miss) co_return answer;
  discard_caches(filled);
  co_return std::move(*miss);
}

asio::awaitable<Message> run_job(protocol::Job job,
                                 WorkerEnvironment const& surroundings,
                                 ProgressSink const& on_progress,
                                 Turns& turns,
                                 std::size_t place) {
  TurnSlot slot{turns, place};  // left when the worker is dead
  std::string const none;
  if (!keeps_caches(job)) co_return co_await run_worker(job, surroundings, on_progress, slot, none);
  auto const filled = filled_caches_of(job, surroundings);
  auto const caches = co_await private_caches(job, filled);
  if (!caches) co_return launch_failure_of(job, caches.error());
  auto answer = co_await run_worker(job, surroundings, on_progress, slot, caches->path());
  co_return co_await settle_caches(job, std::move(answer), filled, caches->path());
}

/// The failures of jobs whose caches could not be filled, by place.
using Unfilled = std::map<std::size_t, Message>;

/// Fills the caches that the round's jobs need and that do not exist, one after the other, so that
/// no compiler disturbs another that tries kernels out.
asio::awaitable<Unfilled> fill_caches(protocol::Round const& round,
                                      WorkerEnvironment const& surroundings,
                                      ProgressSink const& on_progress) {
  auto const executor = co_await asio::this_coro::executor;
  Unfilled failures;
  for (std::size_t place = 0; place < round.jobs.size(); ++place) {
    auto const& job = round.jobs[place];
    std::error_code ignored;
    if (!keeps_caches(job)) continue;
    if (std::filesystem::exists(filled_caches_of(job, surroundings), ignored)) continue;
    Turns turns{executor, 1, round.seed};
    auto fill = filling(job);
    auto answer = co_await run_job(std::move(fill), surroundings, on_progress, turns, 0);
    if (auto* const failure = std::get_if<Failure>(&answer)) {
      failure->text.insert(0, "while its caches were filled: ");
      failures.emplace(place, std::move(answer));
    }
  }
  co_return failures;
}

/// Leaves the turns at once.
asio::awaitable<Message> skip_job(Message failure, Turns& turns, std::size_t place) {
  TurnSlot const slot{turns, place};
  co_return failure;
}

bool is_on_gpu(protocol::Round const& round) {
  return std::ranges::any_of(round.jobs, is_of_gpu);
}

/// Returns the watch for the round's GPU. It observes nothing when the round runs on CPUs.
GpuWatch watch_over(protocol::Round const& round, WorkerEnvironment const& surroundings) {
  return {is_on_gpu(round) ? surroundings.nvml : nullptr, surroundings.gpu};
}

/// Runs each job after the one before has ended. `unfilled`: jobs that do not run.
asio::awaitable<std::vector<Message>> run_one_by_one(protocol::Round round,
                                                     WorkerEnvironment const& surroundings,
                                                     ProgressSink const& on_progress,
                                                     Unfilled unfilled) {
  auto const executor = co_await asio::this_coro::executor;
  std::vector<Message> answers;
  for (std::size_t place = 0; place < round.jobs.size(); ++place) {
    if (auto const failed = unfilled.find(place); failed != unfilled.end()) {
      answers.push_back(std::move(failed->second));
      continue;
    }
    auto& job = round.jobs[place];
    job.takes_turns = false;
    Turns turns{executor, 1, round.seed};
    auto answer = co_await run_job(std::move(job), surroundings, on_progress, turns, 0);
    answers.push_back(std::move(answer));
  }
  co_return answers;
}

/// Runs the jobs at once. `unfilled`: jobs that do not run.
asio::awaitable<std::vector<Message>> run_together(protocol::Round round,
                                                   WorkerEnvironment const& surroundings,
                                                   ProgressSink const& on_progress,
                                                   Unfilled unfilled) {
  auto const executor = co_await asio::this_coro::executor;
  Turns turns{executor, round.jobs.size(), round.seed};
  using Operation =
      decltype(asio::co_spawn(executor, std::declval<asio::awaitable<Message>>(), asio::deferred));
  std::vector<Operation> operations;
  for (std::size_t place = 0; place < round.jobs.size(); ++place) {
    auto& job = round.jobs[place];
    job.takes_turns = round.jobs.size() > 1;
    auto const failed = unfilled.find(place);
    auto running = failed == unfilled.end()
                       ? run_job(std::move(job), surroundings, on_progress, turns, place)
                       : skip_job(std::move(failed->second), turns, place);
    operations.push_back(asio::co_spawn(executor, std::move(running), asio::deferred));
  }
  auto group = asio::experimental::make_parallel_group(std::move(operations));
  auto [order, failures, answers] =
      co_await group.async_wait(asio::experimental::wait_for_one_error(), asio::use_awaitable);
  for (auto const ended : order)
    if (failures[ended]) std::rethrow_exception(failures[ended]);
  co_return std::move(answers);
}

}  // namespace

std::map<std::string, std::string> gpu_variables(WorkerEnvironment const& surroundings) {
  if (surroundings.gpu.empty()) return {};
  return {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", surroundings.gpu}};
}

Result<LoneWorker> start_lone_worker(asio::any_io_executor const& executor,
                                     protocol::Job const& job,
                                     WorkerEnvironment const& surroundings) {
  std::string const no_caches;
  auto given = given_to_worker(job, surroundings, no_caches);
  auto launched = start_worker(executor, job, given, surroundings, no_caches);
  if (!launched) return launched.error();
  return LoneWorker{std::move(given), std::move(launched->directory), std::move(launched->worker)};
}

Claim claim_of(protocol::Round const& round, WorkerEnvironment const& surroundings) {
  Claim claim{is_on_gpu(round), surroundings.gpu, surroundings.beside_others};
  if (!claim.on_gpu || !surroundings.nvml) return claim;
  auto const identity = surroundings.nvml->identity_of(surroundings.gpu);
  if (identity && !identity->uuid.empty()) claim.gpu = identity->uuid;
  return claim;
}

asio::awaitable<std::vector<Message>> run_round(protocol::Round round,
                                                WorkerEnvironment surroundings,
                                                ProgressSink on_progress) {
  auto unfilled = co_await fill_caches(round, surroundings, on_progress);
  auto watch = watch_over(round, surroundings);
  ProgressSink watched = [&watch, &on_progress](protocol::Progress const& progress) {
    watch.look_again();
    on_progress(progress);
  };
  watch.look();
  auto running = round.one_by_one
                     ? run_one_by_one(std::move(round), surroundings, watched, std::move(unfilled))
                     : run_together(std::move(round), surroundings, watched, std::move(unfilled));
  auto answers = co_await std::move(running);
  watch.look();
  for (auto& answer : answers)
    watch.note(answer);
  co_return answers;
}

}  // namespace torchwatch::runner
