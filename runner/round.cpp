#include "runner/round.h"

#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "runner/process/child_process.h"
#include "runner/process/scratch_directory.h"
#include "runner/turns.h"
#include "storage/domain/benchmark.h"

namespace torchwatch::runner {

namespace asio = boost::asio;
using protocol::Failure;
using protocol::Message;

namespace {

std::string preload_of(protocol::BuildRef const& build) {
  std::string joined;
  for (auto const& library : build.preload)
    joined += (joined.empty() ? "" : ":") + library;
  return joined;
}

/// CUDA's own threads would be in each other's way on one core.
std::vector<int> processors_for(protocol::Job const& job, Processors const& processors) {
  auto const benchmark = parse_benchmark(job.benchmark);
  bool const is_pinned = job.measure.pin && benchmark && benchmark->device == Device::cpu;
  return is_pinned ? processors.pick(job.measure.threads) : std::vector<int>{};
}

process::Command worker_command(protocol::BuildRef const& build, std::string directory) {
  auto variables = build.env;
  if (!build.preload.empty()) variables["LD_PRELOAD"] = preload_of(build);

  process::Command command;
  command.argv = build.launcher;
  command.directory = std::move(directory);
  if (build.launcher.empty()) {
    command.env = std::move(variables);
  } else if (!variables.empty()) {
    // They are the build's: they would disturb the launcher, which may not even hand them on.
    command.argv.emplace_back("env");
    for (auto const& [name, value] : variables)
      command.argv.push_back(name + '=' + value);
  }
  command.argv.push_back(build.worker);
  return command;
}

/// Where a worker finds its build, seen from its own directory.
constexpr auto build_link = "build";

/// The job with every path into its prefix replaced by one through the link, so that all builds are
/// in the same place. The length of a path shifts what a process allocates after it, and with the
/// alignment of its tensors that alone made identical builds differ by half (Mytkowicz et al. 2009,
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
  return {job.id, fault.code, job.benchmark + " on " + job.build.prefix + ": " + fault.text};
}

Failure launch_failure_of(protocol::Job const& job, Error const& error) {
  return failure_of(job, Fault{"launch", error.message});
}

asio::awaitable<Message> run_job(protocol::Job job,
                                 Processors const& processors,
                                 ProgressSink const& on_progress,
                                 Turns& turns,
                                 std::size_t place) {
  Seat seat{turns, place};  // given up when the worker is dead
  auto const directory = process::ScratchDirectory::make();
  if (!directory) co_return launch_failure_of(job, directory.error());
  auto given = job;
  // A launcher may lead to where there is no such link, and the system's own PyTorch has no prefix.
  if (job.build.launcher.empty() && !job.build.prefix.empty()) {
    auto const linked = directory->link(build_link, job.build.prefix);
    if (!linked) co_return launch_failure_of(job, linked.error());
    given = through_link(job);
  }
  auto const executor = co_await asio::this_coro::executor;
  auto command = worker_command(given.build, directory->path());
  command.processors = processors_for(job, processors);
  auto worker = process::ChildProcess::start(executor, std::move(command));
  if (!worker) co_return launch_failure_of(job, worker.error());

  auto outcome = co_await supervise(given, on_progress, seat, *worker);
  if (!outcome) co_return failure_of(job, outcome.error());
  co_return std::move(*outcome);
}

}  // namespace

asio::awaitable<std::vector<Message>> run_round(protocol::Round round,
                                                Processors processors,
                                                ProgressSink on_progress) {
  auto const executor = co_await asio::this_coro::executor;
  Turns turns{executor, round.jobs.size()};
  using Operation =
      decltype(asio::co_spawn(executor, std::declval<asio::awaitable<Message>>(), asio::deferred));
  std::vector<Operation> operations;
  for (std::size_t place = 0; place < round.jobs.size(); ++place) {
    auto& job = round.jobs[place];
    job.takes_turns = round.jobs.size() > 1;
    operations.push_back(asio::co_spawn(
        executor, run_job(std::move(job), processors, on_progress, turns, place), asio::deferred));
  }
  auto group = asio::experimental::make_parallel_group(std::move(operations));
  auto [order, failures, answers] =
      co_await group.async_wait(asio::experimental::wait_for_one_error(), asio::use_awaitable);
  for (auto const ended : order)
    if (failures[ended]) std::rethrow_exception(failures[ended]);
  co_return std::move(answers);
}

}  // namespace torchwatch::runner
