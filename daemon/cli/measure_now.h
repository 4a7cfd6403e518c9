#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/cli/bench_request.h"
#include "daemon/measure/fleets.h"
#include "runner/protocol.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"

/// Measuring for a person who waits: no feed, no database.
namespace torchwatch::cli {

/// The build in a prefix; with an empty one, whatever LibTorch the worker finds by itself.
Result<Build> build_at(std::string const& prefix);

/// The message that measures `benchmark` as the request wants it.
protocol::Job job_now(config::Options const& options,
                      Build const& build,
                      BenchRequest const& request,
                      Benchmark const& benchmark);

/// This host, or the fleet that the options have.
measure::Fleets fleets_now(boost::asio::any_io_executor const& executor,
                           config::Options const& options,
                           Place const& place);

/// Runs one job; `title` and how far it is are shown on a terminal.
boost::asio::awaitable<JobOutcome> measure_now(measure::Slot& slot,
                                               protocol::Job job,
                                               std::string title);

}  // namespace torchwatch::cli
