#pragma once

#include <optional>
#include <span>
#include <vector>

#include "config/options.h"
#include "runner/protocol.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"

namespace torchwatch::measure {

/// Returns the benchmarks: models x tests, as far as the suite has them. The model "all" means all
/// models of the suite. Models that the suite does not know, such as files of other backends, have
/// every test.
std::vector<Benchmark> benchmarks_of(config::SuiteOptions const& suite, Device device);

/// Returns the message that measures `benchmark` on `build` with the given options.
protocol::Job job_for(config::MeasureOptions const& options,
                      config::SuiteOptions const& suite,
                      Benchmark const& benchmark,
                      Build const& build);

/// Returns the record of a reply: an Outcome or a Failure.
JobOutcome outcome_from(JobKey key, protocol::Message const& answer, Timestamp now);

/// Returns the reason why a job has no result: "crashed, worker ended ...".
std::string failure_of(JobOutcome const& outcome);

/// Returns the level of each process of a round, in the metric's unit; for times, that of
/// bisect::levels_of. Returns nothing when a process failed or lacks the metric.
std::optional<std::vector<double>> levels_in(std::span<JobOutcome const> outcomes, Metric metric);

}  // namespace torchwatch::measure
