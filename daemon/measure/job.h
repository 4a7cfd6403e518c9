#pragma once

#include <optional>
#include <span>
#include <vector>

#include "config/options.h"
#include "runner/protocol.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"

namespace torchwatch::measure {

/// Returns the benchmarks of a suite: models x tests x backends, as far as the suite has them. The
/// model "all" means all models of the native suite. Models that it does not know, such as files of
/// other backends, have every test.
std::vector<Benchmark> benchmarks_of(config::SuiteOptions const& suite, Device device);

/// Returns the benchmarks of all suites that the hosts of the fleet run.
std::vector<Benchmark> benchmarks_of(config::Options const& options,
                                     config::FleetOptions const& fleet);

/// Returns the suite that measures the benchmark. That is the suite that has it, or else one with
/// its backend, or else the native one. The reference is into `options`.
config::SuiteOptions const& suite_of(config::Options const& options, Benchmark const& benchmark);

/// Checks that no other suite has a benchmark of the native one. The configuration cannot check
/// this, because it has no list of the native models. Fails with invalid_argument.
Result<> check_suites_differ(config::Options const& options);

/// Returns the message that measures `benchmark` on `build` with the given options.
protocol::Job job_for(config::MeasureOptions const& options,
                      config::SuiteOptions const& suite,
                      Benchmark const& benchmark,
                      Build const& build);

/// Returns the record of a reply: an Outcome or a Failure.
JobOutcome outcome_from(JobKey key, protocol::Message const& answer, Timestamp now);

/// Fails all outcomes of a round whose processes read different commits of a checkout of models:
/// the builds were measured with different benchmarks.
void fail_if_models_moved(std::vector<JobOutcome>& outcomes);

/// Returns the reason why a job has no result: "crashed, worker ended ...".
std::string failure_of(JobOutcome const& outcome);

/// Returns the level of each process of a round, in the metric's unit; for times, that of
/// bisect::levels_of. Returns nothing when a process failed or lacks the metric.
std::optional<std::vector<double>> levels_in(std::span<JobOutcome const> outcomes, Metric metric);

}  // namespace torchwatch::measure
