#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/commands/commands.h"
#include "daemon/fleet.h"
#include "runner/protocol.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"

/// Measuring for a person who waits: no feed, no database.
namespace torchwatch::commands {

/// The build in a prefix; with an empty one, whatever LibTorch the worker finds by itself.
Result<Build> build_at(std::string const& prefix);

/// The message that measures `benchmark` as the request wants it.
protocol::Job job_now(config::Options const& options,
                      Build const& build,
                      BenchRequest const& request,
                      Benchmark const& benchmark);

/// Runs one job; `title` and how far it is are shown on a terminal.
boost::asio::awaitable<JobOutcome> measure_now(Lease& lease, protocol::Job job, std::string title);

}  // namespace torchwatch::commands
