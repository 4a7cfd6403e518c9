#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/fleet.h"
#include "runner/protocol.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"
#include "storage/store.h"

namespace torchwatch {

/// The message that measures `benchmark` on `build` as the options say.
protocol::Job job_for(config::MeasureOptions const& options,
                      config::Scale scale,
                      Benchmark const& benchmark,
                      Build const& build);

/// The record of an answer: an Outcome or a Failure.
JobOutcome outcome_from(JobKey key, protocol::Message const& answer, Timestamp now);

/// Measures, and remembers: the same key is measured once, whatever happens in between.
/// Single-threaded.
class Measuring {
 public:
  /// All arguments must outlive it.
  Measuring(storage::Store& store,
            Clock const& clock,
            config::MeasureOptions const& options,
            config::Scale scale)
      : store_{store},
        clock_{clock},
        options_{options},
        scale_{scale} {}

  /// The stored outcome of `key`, or one measured now through `lease` and stored. A process that
  /// dies for a reason that may pass is tried again, `attempts` times in all; the last failure is
  /// the outcome.
  boost::asio::awaitable<JobOutcome> outcome(Lease& lease, JobKey key, Build const& build);

 private:
  storage::Store& store_;
  Clock const& clock_;
  config::MeasureOptions const& options_;
  config::Scale scale_;
};

}  // namespace torchwatch
