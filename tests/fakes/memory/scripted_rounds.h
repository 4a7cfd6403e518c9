#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::fakes {

/// Rounds whose numbers are made up from the commits of the builds, and stored like real ones.
class ScriptedRounds final : public measure::Rounds {
 public:
  /// Relative to any other commit; 1 where nothing is different.
  using Level = std::function<double(Series const& series, Build const& build)>;

  /// `store` and `clock` must outlive it.
  ScriptedRounds(storage::Store& store, Clock const& clock) : store_{store}, clock_{clock} {}

  boost::asio::awaitable<Result<std::vector<JobOutcome>>> measure(
      measure::RoundKey key, std::vector<Build> builds) override;

  /// 10 ms and 64 MiB times this; of a leak 1 KiB times what is above 1.
  Level level = [](Series const&, Build const&) {
    return 1.0;
  };
  /// Metrics that processes report on a device.
  std::function<std::vector<Metric>(Device)> metrics = [](Device) {
    return std::vector{Metric::latency, Metric::cmem};
  };
  /// Called with each outcome before it is stored; may change it.
  std::function<void(JobOutcome&, Build const&)> finish = [](JobOutcome&, Build const&) {
  };
  /// Standard deviation of a process's log time.
  double noise = 0.01;
  /// What processes of these models do on these commits.
  std::map<std::pair<std::string, CommitSha>, JobError> failures;
  /// Commits of which no process tells its memory.
  std::set<CommitSha> without_memory;
  /// Fleets that cannot measure now.
  std::set<std::string> out_of_service;

  /// Hosts on which no worker can be started any more: no process or descriptor is left.
  struct HostFailure {
    int rounds_left = 0;  ///< that are measured before
    std::string why;
  };

  /// Of all fleets. Of a round that it hits nothing is stored, as when no slot is left.
  std::optional<HostFailure> host_failure;
  /// Called before each round is measured; may throw.
  std::function<void(measure::RoundKey const&)> before = [](measure::RoundKey const&) {
  };
  /// A round of this campaign waits until it is cancelled.
  std::string hangs_in;
  /// Rounds that were measured, and not found stored, by campaign.
  std::map<std::string, int> measured;

 private:
  std::optional<Error> trouble_of(std::string const& fleet);
  JobOutcome outcome_of(JobKey key, Build const& build, double pace, bool with_profile);
  MetricValue value_of(Series const& series, Build const& build, double pace);

  storage::Store& store_;
  Clock const& clock_;
  std::mt19937_64 generator_{7};
  std::uint32_t seed_ = 0;  ///< of the round that was measured last
};

}  // namespace torchwatch::fakes
