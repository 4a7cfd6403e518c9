#pragma once

#include <cstddef>
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

/// Rounds whose values are computed from the builds' commits, and stored like real ones.
class ScriptedRounds final : public measure::Rounds {
 public:
  /// Returns the factor of a series' value on a build; 1 without a change.
  using Level = std::function<double(Series const& series, Build const& build)>;

  /// `store` and `clock` must outlive this object.
  ScriptedRounds(storage::Store& store, Clock const& clock) : store_{store}, clock_{clock} {}

  boost::asio::awaitable<Result<std::vector<JobOutcome>>> measure(
      measure::RoundKey key, std::vector<Build> builds) override;

  /// The factor of each value. A latency is 10 ms times it, a memory 64 MiB times it, and a leak 1
  /// KiB times its part above 1.
  Level level = [](Series const&, Build const&) {
    return 1.0;
  };
  /// Returns the metrics that processes report on a device.
  std::function<std::vector<Metric>(Device)> metrics = [](Device) {
    return std::vector{Metric::latency, Metric::cmem};
  };
  /// Called with each outcome before it is stored; may change it.
  std::function<void(JobOutcome&, Build const&)> finish = [](JobOutcome&, Build const&) {
  };
  /// Standard deviation of the logarithm of a process's time.
  double noise = 0.01;

  /// The behavior of a slot.
  struct Slot {
    double level = 1;  ///< multiplies all times
    double noise = 1;  ///< multiplies the noise of rounds, processes and runs
  };

  /// The slots of every fleet. Rounds go to those that are not quarantined, in turn.
  std::vector<Slot> slots{Slot{}};
  /// Standard deviation of the logarithm of a run within its process.
  double noise_of_runs = 0;
  /// Errors of processes, by model and commit.
  std::map<std::pair<std::string, CommitSha>, JobError> failures;
  /// Commits on which no process reports its memory.
  std::set<CommitSha> without_memory;
  /// Fleets that cannot measure now.
  std::set<std::string> out_of_service;
  /// Slots that cannot measure the rounds that name them.
  std::set<std::size_t> out_of_service_slots;

  /// A failure of all hosts: no worker can be started, because no process or descriptor is left.
  struct HostFailure {
    int rounds_left = 0;  ///< number of rounds that are measured before
    std::string why;
  };

  /// A failure of the hosts of all fleets. A round that it affects is not stored, as when no slot
  /// is left.
  std::optional<HostFailure> host_failure;
  /// Called before each round is measured; may throw.
  std::function<void(measure::RoundKey const&)> before = [](measure::RoundKey const&) {
  };
  /// Rounds of campaigns that begin with this name wait until they are cancelled; empty: none.
  std::string hangs_in;
  /// Number of rounds that were measured, by campaign. Rounds that were found stored do not count.
  std::map<std::string, int> measured;

 private:
  std::optional<Error> trouble_of(measure::RoundKey const& key);
  std::size_t slot_for(measure::RoundKey const& key);
  JobOutcome outcome_of(
      JobKey key, Build const& build, std::size_t slot, double pace, bool with_profile);
  MetricValue value_of(Series const& series, Build const& build, std::size_t slot, double pace);

  storage::Store& store_;
  Clock const& clock_;
  std::mt19937_64 generator_{7};
  std::uint32_t seed_ = 0;  // seed of the last measured round
  std::size_t turns_ = 0;   // number of rounds that went to any slot
};

}  // namespace torchwatch::fakes
