#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "config/options.h"
#include "daemon/async/run_until_signal.h"
#include "daemon/cli/bench_request.h"
#include "daemon/measure/fleets.h"
#include "runner/protocol.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"

/// Measuring for a user who waits, without feed and database.
namespace torchwatch::cli {

/// Returns the runner's job that measures `benchmark` as the request says.
protocol::Job job_now(config::Options const& options,
                      Build const& build,
                      BenchRequest const& request,
                      Benchmark const& benchmark);

/// Runs one job, and shows `title` and its progress on a terminal. A lost runner gives an outcome
/// with the error `lost`.
boost::asio::awaitable<JobOutcome> measure_now(measure::Slot& slot,
                                               protocol::Job job,
                                               std::string title);

/// Reads the build in a prefix. An empty prefix means the LibTorch that the worker was linked with.
Result<Build> build_at(std::string const& prefix);

/// Returns the fleets of the options: by default this host.
measure::Fleets fleets_now(boost::asio::any_io_executor const& executor,
                           config::Options const& options,
                           Invocation const& invocation);

template <class T>
using MeasureNow = boost::asio::awaitable<T> (*)(measure::Slot& slot,
                                                 config::Options const& options,
                                                 Build const& build,
                                                 BenchRequest const& request);

/// Runs `measure` for the request's build on the first free slot, and waits for it. Fails when the
/// build cannot be read or the runner does not start.
template <class T>
Result<T> run_now(config::Options const& options,
                  Invocation const& invocation,
                  BenchRequest const& request,
                  MeasureNow<T> measure) {
  auto const build = build_at(request.prefix);
  if (!build) return build.error();
  boost::asio::io_context loop{1};
  auto fleets = fleets_now(loop.get_executor(), options, invocation);
  auto on_slot = [&]() -> boost::asio::awaitable<Result<T>> {
    auto slot = co_await fleets.first().slot();
    if (!slot) co_return slot.error();
    co_return co_await measure(*slot, options, *build, request);
  };
  return async::run_until_signal(loop, on_slot());
}

/// Returns a cell of a table: the value in `unit`, "12.345"; "-" when the metric was not measured.
std::string cell(JobOutcome const& outcome, Metric metric, double unit, int digits);

inline constexpr double mib = 1 << 20;

}  // namespace torchwatch::cli
