#include "daemon/commands/measure_now.h"

#include <utility>

#include "daemon/build_manifest.h"
#include "daemon/commands/progress.h"
#include "daemon/measuring.h"

namespace torchwatch::commands {

Result<Build> build_at(std::string const& prefix) {
  if (prefix.empty()) return Build{};
  return read_build(prefix);
}

protocol::Job job_now(config::Options const& options,
                      Build const& build,
                      BenchRequest const& request,
                      Benchmark const& benchmark) {
  auto job = job_for(options.measure, options.suite, benchmark, build);
  job.id = name_of(benchmark);
  job.measure.profile = request.profile;
  job.measure.batch = request.batch;
  return job;
}

boost::asio::awaitable<JobOutcome> measure_now(Lease& lease, protocol::Job job, std::string title) {
  SystemClock const clock;
  JobKey key{"bench", lease.fleet(), parse_benchmark(job.benchmark).value(), {}, 0};
  auto on_progress = [&title](protocol::Progress const& progress) {
    print_fleeting_progress(title + " " + progress.phase);
  };
  protocol::Round round{{std::move(job)}};
  auto const answers = co_await lease.run(std::move(round), std::move(on_progress));
  co_return outcome_from(std::move(key), answers.front(), clock.now());
}

}  // namespace torchwatch::commands
