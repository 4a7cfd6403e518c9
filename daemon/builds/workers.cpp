#include "daemon/builds/workers.h"

#include <chrono>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include "config/needs.h"
#include "daemon/async/flush_disk.h"
#include "storage/base/small_file.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

fs::path worker_in(fs::path const& prefix) {
  return prefix / "bin/torchwatch-worker";
}

fs::path made_in(fs::path const& prefix) {
  return prefix / "bin/torchwatch-worker.made";
}

/// True when the worker in the prefix was made from `dependencies`. The build may contain this
/// file, with any contents.
bool is_made_from(fs::path const& prefix, std::string const& dependencies) {
  auto const made = read_small_file(made_in(prefix));
  return made && *made == dependencies;
}

/// Returns "resnet18;dlrm", or nothing for all models.
std::string models_of(config::SuiteOptions const& suite) {
  std::string models;
  if (suite.backend != "eager") return models;
  for (auto const& model : suite.models) {
    if (model == config::all_models) return "";
    models += (models.empty() ? "" : ";") + model;
  }
  return models;
}

/// Returns "nightly-7" for builds/nightly-7/libtorch.
std::string name_of(fs::path const& prefix) {
  return prefix.parent_path().filename().string();
}

/// The sources of the project that `program`, deploy/build-worker, belongs to.
fs::path sources_of(fs::path const& program) {
  std::error_code ignored;
  return fs::canonical(program, ignored).parent_path().parent_path();
}

}  // namespace

/// True for a downloaded nightly, such as state_dir/builds/nightly-7/libtorch. Other builds have
/// their own workers.
bool WorkerProgram::is_unpacked_here(fs::path const& prefix) const {
  auto const builds = (fs::absolute(options_.state_dir) / "builds").lexically_normal();
  return prefix.parent_path().parent_path() == builds && name_of(prefix).starts_with("nightly-");
}

asio::awaitable<Result<>> WorkerProgram::renew(fs::path prefix) {
  if (!config::needs_compiled_worker(options_)) co_return Result<>{};
  std::error_code ignored;
  if (!is_unpacked_here(prefix) || !fs::exists(made_in(prefix), ignored)) co_return Result<>{};
  // Called before each round, so it does not run the program again.
  if (!newest_.empty() && is_made_from(prefix, newest_)) co_return Result<>{};
  auto const made = co_await make(prefix);
  if (made || made.error().code != ErrorCode::corrupt) co_return made;
  co_return retire_worker(prefix, made.error());
}

Result<> WorkerProgram::retire_worker(fs::path const& prefix, Error const& reason) const {
  spdlog::warn("worker_retired build={} reason=\"{}\"", name_of(prefix), reason.message);
  std::error_code problem;
  fs::remove(worker_in(prefix), problem);
  if (problem)
    return Error{ErrorCode::unavailable, worker_in(prefix).string() + ": " + problem.message()};
  return write_small_file(made_in(prefix), newest_);
}

asio::awaitable<Result<>> WorkerProgram::make(fs::path prefix) {
  auto const alone = co_await gate_.enter();
  auto const wanted = co_await dependencies();
  if (!wanted) co_return wanted.error();
  newest_ = *wanted;
  std::error_code ignored;
  if (fs::exists(worker_in(prefix), ignored) && is_made_from(prefix, *wanted)) co_return Result<>{};
  auto const compiled = co_await compile(prefix);
  if (!compiled) co_return compiled.error();
  auto const flushed = co_await async::flush_disk_of(executor_, worker_in(prefix));
  if (!flushed) co_return flushed.error();
  co_return write_small_file(made_in(prefix), *wanted);
}

asio::awaitable<Result<std::string>> WorkerProgram::tools() {
  auto answer = co_await ask("--tools");
  if (answer && answer->ends_with('\n')) answer->pop_back();
  co_return answer;
}

asio::awaitable<Result<std::string>> WorkerProgram::dependencies() {
  return ask("--dependencies");
}

asio::awaitable<Result<std::string>> WorkerProgram::ask(std::string question) {
  constexpr std::chrono::seconds patience{60};
  auto asking = command();
  asking.argv = {program_, std::move(question)};
  Workshop::Access access;
  access.readable = {sources_of(program_)};
  auto confined = co_await workshop_.confine(std::move(asking), std::move(access));
  if (!confined) co_return confined.error();
  auto answer = co_await async::run_tool(executor_, std::move(*confined), patience);
  if (!answer) co_return answer.error();
  if (!answer->is_good())
    co_return Error{ErrorCode::unavailable, program_ + ": " + async::why_it_failed(*answer)};
  co_return std::move(answer->output);
}

/// Orphans of a killed service hold the lock until they have ended.
asio::awaitable<Result<>> WorkerProgram::compile(fs::path prefix) {
  auto const started = std::chrono::steady_clock::now();
  auto const state = fs::absolute(options_.state_dir);
  auto const work = state / "workers";
  auto const log = state / "logs" / ("worker-" + name_of(prefix) + ".log");
  std::error_code ignored;
  fs::create_directories(work, ignored);
  fs::create_directories(log.parent_path(), ignored);
  fs::remove(log, ignored);
  auto compiling = command();
  compiling.argv = {"flock",
                    "--no-fork",
                    (work / "lock").string(),
                    program_,
                    prefix.string(),
                    (work / "compile").string()};
  compiling.stdout_file = log.string();
  spdlog::info("worker_started build={}", name_of(prefix));
  Workshop::Access access;
  // A wheel has its torch/ and nvidia/ in one directory. The files in nvidia/ also belong to other
  // nightlies.
  access.readable = {sources_of(program_), prefix.parent_path()};
  access.writable = {work, worker_in(prefix).parent_path()};
  access.temporary = work / "tmp";
  access.has_network = false;
  constexpr std::size_t locking = 3;
  auto confined = co_await workshop_.confine(std::move(compiling), std::move(access), locking);
  if (!confined) co_return confined.error();
  auto const run =
      co_await async::run_tool(executor_, std::move(*confined), options_.source.timeout);
  if (!run) co_return run.error();
  if (!run->is_good()) {
    // A failure to make the sandbox looks like a compiler error.
    auto const tried = co_await workshop_.try_out();
    if (!tried) co_return tried.error();
    constexpr int host_is_to_blame = 127;
    bool const is_ours = run->status.signal != 0 || run->status.code > host_is_to_blame;
    co_return Error{is_ours ? ErrorCode::unavailable : ErrorCode::corrupt,
                    "the worker does not compile against " + prefix.string() + ": " +
                        async::why_it_failed(*run)};
  }
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - started;
  spdlog::info("worker_finished build={} seconds={:.1f}", name_of(prefix), seconds.count());
  co_return Result<>{};
}

process::Command WorkerProgram::command() const {
  process::Command command;
  command.env["TORCHWATCH_MODELS"] = models_of(options_.suite);
  if (options_.source.cores > 0)
    command.env["TORCHWATCH_CORES"] = std::to_string(options_.source.cores);
  return command;
}

}  // namespace torchwatch::builds
