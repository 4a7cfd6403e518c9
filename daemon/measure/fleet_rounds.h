#pragma once

#include "config/options.h"
#include "daemon/measure/fleets.h"
#include "daemon/measure/rounds.h"
#include "daemon/measure/seeds.h"
#include "daemon/metrics/counters.h"
#include "runner/protocol.h"
#include "storage/store.h"

namespace torchwatch::measure {

/// Rounds on fleets' slots.
///
/// When a process dies for a reason that may pass, the round is tried again, `attempts` times in
/// all; the last outcomes count. When a device had no room for its workers together, they are tried
/// one by one. To lose a runner, or to have one whose host cannot start workers, is the fleet's
/// trouble and costs no attempt: an alarm says so, and the round goes to the next slot. A round
/// that loses one runner after the other in its midst is taken for the cause, and fails.
///
/// Each attempt draws a seed, which decides by runner::TurnOrder which build has which place and
/// who works when; so who knew all that the host will do would still not know to which build.
class FleetRounds final : public Rounds {
 public:
  /// All arguments must outlive it.
  FleetRounds(storage::Store& store,
              Clock const& clock,
              Seeds& seeds,
              Fleets& fleets,
              config::MeasureOptions const& options,
              config::SuiteOptions const& suite,
              metrics::Counters& counters)
      : store_{store},
        clock_{clock},
        seeds_{seeds},
        fleets_{fleets},
        options_{options},
        suite_{suite},
        counters_{counters} {}

  boost::asio::awaitable<Result<std::vector<JobOutcome>>> measure(
      RoundKey key, std::vector<Build> builds) override;

  /// Clears alarms about slots and fleets that are not configured any more: nobody will see how
  /// they are. At start.
  void remove_slots_that_are_gone();

 private:
  std::optional<std::vector<JobOutcome>> stored(std::vector<JobKey> const& keys) const;
  boost::asio::awaitable<Result<std::vector<JobOutcome>>> attempt(Fleet& fleet,
                                                                  std::vector<JobKey> const& keys,
                                                                  std::vector<protocol::Job> jobs,
                                                                  int attempt,
                                                                  bool one_by_one);
  boost::asio::awaitable<Result<std::vector<protocol::Message>>> run(Fleet& fleet,
                                                                     protocol::Round round);
  void count(JobOutcome const& outcome);
  void note_device(Slot const& slot, std::string const& trouble);
  void update_alarm(AlarmKind kind, Slot const& slot, std::string reason);

  storage::Store& store_;
  Clock const& clock_;
  Seeds& seeds_;
  Fleets& fleets_;
  config::MeasureOptions const& options_;
  config::SuiteOptions const& suite_;
  metrics::Counters& counters_;
};

}  // namespace torchwatch::measure
