#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "config/options.h"
#include "daemon/async/drain.h"
#include "daemon/measure/fleets.h"
#include "daemon/measure/rounds.h"
#include "daemon/measure/seeds.h"
#include "daemon/metrics/counters.h"
#include "runner/protocol.h"
#include "storage/store.h"

namespace torchwatch::measure {

/// Rounds on the slots of fleets.
///
/// When a process fails for a temporary reason, the round is repeated, up to `attempts` times; the
/// last outcomes count. When a device lacked memory for its workers together, they are measured one
/// by one. Rounds use the two fills of a build's compile caches in turn. A lost runner, or one
/// whose host cannot start workers, is a problem of the fleet. It raises an alarm, costs no
/// attempt, and the round moves to the next slot. A round that loses several runners while they
/// measure is considered the cause, and fails. A runner whose scheduler reports another cause, such
/// as a preemption, does not count among them.
///
/// Each attempt draws a seed. With it, runner::TurnOrder decides which build has which place and
/// when each works. So no disturbance of the host can favour a build, even if it were known in
/// advance.
class FleetRounds final : public Rounds {
 public:
  /// All arguments must outlive it.
  FleetRounds(storage::Store& store,
              Clock const& clock,
              Seeds& seeds,
              Fleets& fleets,
              config::Options const& options,
              metrics::Counters& counters)
      : store_{store},
        clock_{clock},
        seeds_{seeds},
        fleets_{fleets},
        options_{options},
        counters_{counters} {}

  boost::asio::awaitable<Result<std::vector<JobOutcome>>> measure(
      RoundKey key, std::vector<Build> builds) override;

  /// The rounds that are measured now, until their results are stored.
  async::Drain& steps() { return steps_; }

  /// Clears alarms about slots and fleets that are no longer configured, and removes the states of
  /// these slots: no measurement could do it later. Call at start.
  void remove_slots_that_are_gone();

 private:
  /// The slot of a round.
  struct Placement {
    std::optional<std::size_t> slot;         ///< the only one it may use; nothing: any
    std::optional<async::Drain::Step> step;  ///< the round, since it has a slot
  };

  std::optional<std::vector<JobOutcome>> stored(std::vector<JobKey> const& keys) const;

  /// The answers to a round, and the slot that gave them.
  struct Answers {
    std::vector<protocol::Message> messages;
    std::size_t slot = 0;
  };

  boost::asio::awaitable<Result<std::vector<JobOutcome>>> attempt(Fleet& fleet,
                                                                  Placement& placement,
                                                                  std::vector<JobKey> const& keys,
                                                                  std::vector<protocol::Job> jobs,
                                                                  int attempt,
                                                                  bool one_by_one);
  boost::asio::awaitable<Result<Answers>> run(Fleet& fleet,
                                              Placement& placement,
                                              protocol::Round round);
  void count(JobOutcome const& outcome);
  void note_device(Slot const& slot, std::string const& trouble);
  void update_alarm(AlarmKind kind, Slot const& slot, std::string reason);

  storage::Store& store_;
  Clock const& clock_;
  Seeds& seeds_;
  Fleets& fleets_;
  config::Options const& options_;
  metrics::Counters& counters_;
  async::Drain steps_;
};

}  // namespace torchwatch::measure
