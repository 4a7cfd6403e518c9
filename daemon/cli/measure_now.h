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

/// Measuring for a person who waits: no feed, no database.
namespace torchwatch::cli {

/// The message that measures `benchmark` as the request wants it.
protocol::Job job_now(config::Options const& options,
                      Build const& build,
                      BenchRequest const& request,
                      Benchmark const& benchmark);

/// Runs one job; `title` and how far it is are shown on a terminal.
boost::asio::awaitable<JobOutcome> measure_now(measure::Slot& slot,
                                               protocol::Job job,
                                               std::string title);

/// The build in a prefix; with an empty one, whatever LibTorch the worker finds by itself.
Result<Build> build_at(std::string const& prefix);

/// This host, or the fleet that the options have.
measure::Fleets fleets_now(boost::asio::any_io_executor const& executor,
                           config::Options const& options,
                           Invocation const& invocation);

template <class T>
using MeasureNow = boost::asio::awaitable<T> (*)(measure::Slot& slot,
                                                 config::Options const& options,
                                                 Build const& build,
                                                 BenchRequest const& request);

/// Has `measure` measure the request's build on the first slot that is free, and waits for it; an
/// error where there is no such build or no slot.
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

/// "12.345", or "-" where the metric was not measured.
std::string cell(JobOutcome const& outcome, Metric metric, double unit, int digits);

inline constexpr double mib = 1 << 20;

}  // namespace torchwatch::cli
