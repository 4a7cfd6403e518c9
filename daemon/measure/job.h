#pragma once

#include <optional>
#include <span>
#include <vector>

#include "config/options.h"
#include "runner/protocol.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"

namespace torchwatch::measure {

/// Models x tests, as far as the suite has them: the word "all" among the models stands for all of
/// the suite; models that it does not know, files of other backends for one, have every test.
std::vector<Benchmark> benchmarks_of(config::SuiteOptions const& suite, Device device);

/// The message that measures `benchmark` on `build` as the options say.
protocol::Job job_for(config::MeasureOptions const& options,
                      config::SuiteOptions const& suite,
                      Benchmark const& benchmark,
                      Build const& build);

/// The record of an answer: an Outcome or a Failure.
JobOutcome outcome_from(JobKey key, protocol::Message const& answer, Timestamp now);

/// "crashed, worker ended ...": why a job gave no result.
std::string failure_of(JobOutcome const& outcome);

/// The level of each process of a round, in the metric's unit. Of times, bisect::levels_of.
/// Nothing when one failed or gave no such metric.
std::optional<std::vector<double>> levels_in(std::span<JobOutcome const> outcomes, Metric metric);

}  // namespace torchwatch::measure
