#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/fleet.h"
#include "runner/protocol.h"
#include "storage/domain/build.h"
#include "storage/domain/job.h"
#include "storage/store.h"

namespace torchwatch {

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

/// One round of a campaign on one benchmark.
struct RoundKey {
  std::string campaign;
  Benchmark benchmark;
  int round = 0;
  bool profile = false;  ///< also ask what each operator costs
};

/// The level of each process of a round, in the metric's unit. Of times, bisect::levels_of.
/// Nothing when one failed or gave no such metric.
std::optional<std::vector<double>> levels_in(std::span<JobOutcome const> outcomes, Metric metric);

/// Measures, and remembers: the same round is measured once, whatever happens in between.
/// Single-threaded.
class Measuring {
 public:
  /// All arguments must outlive it.
  Measuring(storage::Store& store,
            Clock const& clock,
            config::MeasureOptions const& options,
            config::SuiteOptions const& suite)
      : store_{store},
        clock_{clock},
        options_{options},
        suite_{suite} {}

  /// One process of each build, taking turns: their stored outcomes, or those measured now through
  /// `lease` and stored. When a process dies for a reason that may pass, the round is tried again,
  /// `attempts` times in all; the last outcomes count. Odd rounds start with the last build. Two
  /// builds may be of one commit; the second is kept under the campaign with "/again".
  boost::asio::awaitable<std::vector<JobOutcome>> round(Lease& lease,
                                                        RoundKey key,
                                                        std::vector<Build> builds);

 private:
  std::optional<std::vector<JobOutcome>> stored(std::vector<JobKey> const& keys) const;
  boost::asio::awaitable<std::vector<JobOutcome>> attempt(Lease& lease,
                                                          std::vector<JobKey> const& keys,
                                                          std::vector<protocol::Job> jobs,
                                                          int attempt);

  storage::Store& store_;
  Clock const& clock_;
  config::MeasureOptions const& options_;
  config::SuiteOptions const& suite_;
};

}  // namespace torchwatch
