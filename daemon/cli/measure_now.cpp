#include "daemon/cli/measure_now.h"

#include <utility>

#include <spdlog/fmt/fmt.h>

#include "daemon/builds/manifest.h"
#include "daemon/cli/terminal.h"
#include "daemon/measure/job.h"
#include "daemon/measure/runner_process.h"

namespace torchwatch::cli {

Result<Build> build_at(std::string const& prefix) {
  if (prefix.empty()) return Build{};
  return builds::read_build(prefix);
}

protocol::Job job_now(config::Options const& options,
                      Build const& build,
                      BenchRequest const& request,
                      Benchmark const& benchmark) {
  auto const& suite = measure::suite_of(options, benchmark);
  auto job = measure::job_for(options.measure, suite, benchmark, build);
  job.id = name_of(benchmark);
  job.measure.profile = request.profile;
  job.measure.batch = request.batch;
  return job;
}

measure::Fleets fleets_now(boost::asio::any_io_executor const& executor,
                           config::Options const& options,
                           Invocation const& invocation) {
  return {executor, options.fleets, [&](config::FleetOptions const& fleet) {
            return measure::runner_processes(executor, fleet, invocation.executable, options);
          }};
}

boost::asio::awaitable<JobOutcome> measure_now(measure::Slot& slot,
                                               protocol::Job job,
                                               std::string title) {
  SystemClock const clock;
  JobKey key{{"bench"}, slot.fleet(), parse_benchmark(job.benchmark).value(), {}, 0};
  auto on_progress = [&title](protocol::Progress const& progress) {
    print_fleeting_progress(title + " " + progress.phase);
  };
  protocol::Round round{{std::move(job)}};
  auto const answers = co_await slot.run(std::move(round), std::move(on_progress));
  if (answers) co_return measure::outcome_from(std::move(key), answers->front(), clock.now());
  protocol::Failure const lost{"", std::string{to_string(JobError::lost)}, answers.error().reason};
  co_return measure::outcome_from(std::move(key), lost, clock.now());
}

std::string cell(JobOutcome const& outcome, Metric metric, double unit, int digits) {
  auto const value = outcome.values.find(metric);
  if (value == outcome.values.end()) return "-";
  return fmt::format("{:.{}f}", value->second.value / unit, digits);
}

}  // namespace torchwatch::cli
