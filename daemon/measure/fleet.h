#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/result.hpp>

#include "config/options.h"
#include "daemon/async/semaphore.h"
#include "daemon/measure/launcher.h"
#include "daemon/measure/runner.h"
#include "runner/protocol.h"

namespace torchwatch::measure {

class Fleet;

/// The reason why a round has no results: its runner is gone, or cannot start workers.
struct Lost {
  std::string reason;
  /// It was lost while it worked, and its launcher reported no cause outside of the round.
  bool may_be_by_round = false;
  LauncherEnd end = LauncherEnd::unknown;
};

/// Returns the problem that a device had during a round; empty without one.
std::string trouble_of_device(std::vector<protocol::Message> const& answers);

/// Returns the reason why the host of a round could not start its workers; empty when it could.
std::string trouble_of_host(std::vector<protocol::Message> const& answers);

/// One slot of a fleet, for exclusive use. Everything that runs through it is measured on one host,
/// one round at a time. Returns the slot to the fleet when it is destroyed. The fleet must outlive
/// it.
class Slot {
 public:
  /// `may_change`: `run` may use another slot of the fleet.
  Slot(Fleet& fleet, std::size_t number, bool may_change = true)
      : fleet_{&fleet},
        number_{number},
        may_change_{may_change} {}

  Slot(Slot&& other) noexcept
      : fleet_{std::exchange(other.fleet_, nullptr)},
        number_{other.number_},
        may_change_{other.may_change_} {}

  Slot(Slot const&) = delete;
  Slot& operator=(Slot const&) = delete;
  Slot& operator=(Slot&&) = delete;
  ~Slot();

  std::string const& fleet() const;

  /// The number of this slot in its fleet, from 0. `run` may change it.
  std::size_t number() const { return number_; }

  using OnProgress = std::function<void(protocol::Progress const&)>;
  using Replies = boost::system::result<std::vector<protocol::Message>, Lost>;

  /// Runs jobs that take turns, and returns the Outcome or Failure of each, in their order. Starts
  /// the slot's runner if needed. A runner that does not start, disappears, or stays silent beyond
  /// the jobs' limits is lost. So is one that reports that its host cannot start workers
  /// (protocol::host_trouble). The slot then rests before it gets another. Cancelling this ends the
  /// runner. While the runner waits in the queue of a scheduler, this may become another slot that
  /// is free and has a runner. The request is withdrawn then. A slot of Fleet::slot(number) stays.
  boost::asio::awaitable<Replies> run(protocol::Round round, OnProgress on_progress);

 private:
  friend class Fleet;

  Fleet* fleet_;
  std::size_t number_;
  bool may_change_;
};

/// The time limits of a fleet for its runners.
struct FleetLimits {
  /// The longest wait for the hello of a runner. The scheduler of a cluster may take a while.
  std::chrono::milliseconds hello = std::chrono::minutes{2};
  /// The time for a round in addition to the jobs' own limits, which the runner enforces.
  std::chrono::milliseconds grace = std::chrono::minutes{1};
  /// The rest of a slot after it lost a runner. It doubles after each further one. It is at least
  /// eight times the wait for a missing hello, so that a dead host does not delay the others.
  std::chrono::milliseconds first_rest = std::chrono::seconds{2};
  std::chrono::milliseconds longest_rest = std::chrono::minutes{10};
  /// The number of consecutive failures after which a slot is out of service. A failure is a runner
  /// that does not start, or a round in which the device had a problem or the host started no
  /// workers.
  int most_failed_starts = 4;
  /// Replace FleetOptions::idle and FleetOptions::queue.
  std::optional<std::chrono::milliseconds> idle = {};
  std::optional<std::chrono::milliseconds> queue = {};
};

/// The runners of one fleet, at most one per slot, each started when needed. Ends its runners when
/// it is destroyed. Single-threaded.
///
/// The states of a slot:
///
///                    a round takes it                       hello
///        +-- empty --------------------> starting ----------------------+
///        |     ^ ^                        |  |  |                       |
///        |     | |      queued, and another slot is ready:              |
///        |     | +--------- its round moves there --+                   v
///        |     |                          |                         measuring
///        |     | end of rest    no hello  |                          |  |  ^
///        |     |                          v                          |  |  |
///        |     +----------------------- resting <--------------------+  |  | a round
///        |                                      lost, or trouble of     |  | takes it
///        |                                      its device or host      |  |
///        |        unused for FleetOptions::idle, or                     v  |
///        +<------- its launcher ended between rounds ----------------- ready
///
/// A slot is out of service after most_failed_starts failures, and still rests and tries again.
class Fleet {
 public:
  Fleet(boost::asio::any_io_executor executor,
        config::FleetOptions options,
        StartRunner start,
        FleetLimits limits = {});

  Fleet(Fleet const&) = delete;
  Fleet& operator=(Fleet const&) = delete;
  ~Fleet();

  /// Waits for a free slot that neither rests nor is quarantined; earlier callers come first. Gives
  /// quarantined slots as well when the others are out of service. Fails with unavailable when all
  /// slots are.
  boost::asio::awaitable<Result<Slot>> slot();

  /// Waits for that slot, quarantined or not. Fails with unavailable when it is out of service, and
  /// with invalid_argument when the fleet has no such slot.
  boost::asio::awaitable<Result<Slot>> slot(std::size_t number);

  /// Sets the slots that slot() does not give. If these are all slots, it gives every one.
  void quarantine(std::set<std::size_t> slots);

  /// The number of slots that slot() does not give.
  int quarantined_slots() const;

  std::string const& name() const { return options_.name; }

  Device device() const { return options_.device; }

  int slots() const { return options_.slots; }

  /// The number of slots in use.
  int taken_slots() const;

  /// The isolation of workers from their hosts, as the last runner reported it.
  std::string const& isolation() const { return isolation_; }

 private:
  friend class Slot;
  using Clock = std::chrono::steady_clock;

  /// The state of a slot.
  struct SlotState {
    std::unique_ptr<Runner> runner;  ///< empty until needed, after it was lost, and after idling
    int rounds = 0;                  ///< the number of rounds that this runner has measured
    bool is_taken = false;
    Clock::time_point unused_since{};
    int failed_starts = 0;  ///< consecutive failures, see most_failed_starts
    Clock::time_point rests_until{};
  };

  boost::asio::awaitable<Slot::Replies> run(Slot& slot,
                                            protocol::Round round,
                                            Slot::OnProgress on_progress);
  boost::asio::awaitable<Slot::Replies> measure(SlotState& slot_state,
                                                protocol::Round round,
                                                Slot::OnProgress on_progress);
  boost::asio::awaitable<std::optional<Lost>> start(Slot& slot);
  boost::asio::awaitable<std::optional<Lost>> greet(Slot& slot);
  boost::asio::awaitable<void> take_ready_slot(bool const& is_wanted, std::optional<Slot>& taken);
  void move_round(Slot& slot, Slot& other);
  void note_hello(protocol::Hello const& hello);
  void forget_if_ended(std::size_t number);
  void retire(std::unique_ptr<Runner> runner);
  Clock::duration limit_of(protocol::Round const& round) const;
  std::optional<std::size_t> free_slot() const;
  std::optional<std::size_t> ready_slot() const;
  bool is_out_of_service(std::size_t number) const;
  bool is_for_everyone(std::size_t number) const;
  bool is_out_of_service() const;
  Clock::time_point end_of_rest() const;
  void give_back(std::size_t number);
  std::chrono::milliseconds idle_limit() const;
  void watch_unused_slots();
  void end_unused_runners();
  void rest(SlotState& slot_state, Clock::duration duration);
  void note_failed_start(SlotState& slot_state, std::string const& reason, Clock::duration waited);
  void note_device(SlotState& slot_state, std::string const& trouble);

  boost::asio::any_io_executor executor_;
  config::FleetOptions options_;
  StartRunner start_;
  FleetLimits limits_;
  std::vector<SlotState> slots_;
  std::set<std::size_t> quarantined_;  // never all slots
  std::string last_trouble_;
  std::string isolation_;
  async::Semaphore queue_;            // its holder gets the next slot
  int callers_ = 0;                   // that wait for a slot
  boost::asio::steady_timer change_;  // cancelled when a slot_state is given back
  boost::asio::steady_timer ready_;   // never expires; cancelled when a ready slot may be there
  boost::asio::steady_timer idle_;
  bool watches_unused_slots_ = false;
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);  // for handlers that come late
};

}  // namespace torchwatch::measure
