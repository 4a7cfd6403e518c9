#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/result.hpp>

#include "config/options.h"
#include "daemon/async/semaphore.h"
#include "daemon/measure/runner.h"
#include "runner/protocol.h"

namespace torchwatch::measure {

class Fleet;

/// Why a round has no answers: its runner is gone, or cannot start workers.
struct Lost {
  std::string reason;
  bool in_round = false;  ///< it had greeted, and was lost while it worked
};

/// Why a device was not itself while a round was measured on it; empty when it was.
std::string trouble_of_device(std::vector<protocol::Message> const& answers);

/// Why the host of a round could not start its workers; empty when it could.
std::string trouble_of_host(std::vector<protocol::Message> const& answers);

/// One slot of a fleet, held alone: everything run through it is measured on the same host, one job
/// at a time. Gives the slot back when it goes. The fleet must outlive it.
class Slot {
 public:
  Slot(Fleet& fleet, std::size_t number) : fleet_{&fleet}, number_{number} {}

  Slot(Slot&& other) noexcept
      : fleet_{std::exchange(other.fleet_, nullptr)},
        number_{other.number_} {}

  Slot(Slot const&) = delete;
  Slot& operator=(Slot const&) = delete;
  Slot& operator=(Slot&&) = delete;
  ~Slot();

  std::string const& fleet() const;

  /// Which of the fleet's slots it is.
  std::size_t number() const { return number_; }

  using OnProgress = std::function<void(protocol::Progress const&)>;
  using Replies = boost::system::result<std::vector<protocol::Message>, Lost>;

  /// Runs jobs that take turns and returns the Outcome or Failure of each, in their order. Starts
  /// the slot's runner if need be. One that does not start, vanishes, or stays silent beyond the
  /// jobs' limits is lost, and the slot rests before it gets another. So it does when the runner
  /// says that its host cannot start workers (protocol::host_trouble). Cancelling this ends the
  /// runner.
  boost::asio::awaitable<Replies> run(protocol::Round round, OnProgress on_progress);

 private:
  Fleet* fleet_;
  std::size_t number_;
};

/// How patient a fleet is with its runners.
struct FleetLimits {
  /// Until a runner says hello. A cluster's scheduler may take a while.
  std::chrono::milliseconds hello = std::chrono::minutes{2};
  /// For a round, beyond the jobs' own limits, which the runner keeps.
  std::chrono::milliseconds grace = std::chrono::minutes{1};
  /// What a slot rests after it lost a runner; twice as long after each further one, and at least
  /// eight times what the round waited for a hello in vain: a dead host must not hold up the
  /// others.
  std::chrono::milliseconds first_rest = std::chrono::seconds{2};
  std::chrono::milliseconds longest_rest = std::chrono::minutes{10};
  /// Runners in a row that do not start, or rounds in a row in which the device was not itself or
  /// the host started no workers, before their slot counts as out of service.
  int most_failed_starts = 4;
};

/// The runners of one fleet: one a slot at most, each started when first needed. Single-threaded.
/// Ends its runners when it goes.
class Fleet {
 public:
  Fleet(boost::asio::any_io_executor executor,
        config::FleetOptions options,
        StartRunner start,
        FleetLimits limits = {});

  /// Waits until a slot is free that does not rest, and everybody who came before has one. Fails
  /// with unavailable when all slots are out of service.
  boost::asio::awaitable<Result<Slot>> slot();

  std::string const& name() const { return options_.name; }

  Device device() const { return options_.device; }

  int slots() const { return options_.slots; }

  /// How many of them somebody holds.
  int taken_slots() const;

  /// By what its runners keep workers from their hosts, as the last one said.
  std::string const& isolation() const { return isolation_; }

 private:
  friend class Slot;
  using Clock = std::chrono::steady_clock;

  /// What stands behind a slot.
  struct SlotState {
    std::unique_ptr<Runner> runner;  ///< empty until first needed, and after it was lost
    bool is_taken = false;
    int failed_starts = 0;  ///< in a row, of runners, workers, and devices not themselves
    Clock::time_point rests_until{};
  };

  boost::asio::awaitable<Slot::Replies> run(SlotState& slot_state,
                                            std::size_t number,
                                            protocol::Round round,
                                            Slot::OnProgress on_progress);
  boost::asio::awaitable<Result<>> greet(SlotState& slot_state, std::size_t number);
  Clock::duration limit_of(protocol::Round const& round) const;
  std::optional<std::size_t> free_slot() const;
  bool is_out_of_service() const;
  Clock::time_point end_of_rest() const;
  void give_back(std::size_t number);
  void rest(SlotState& slot_state, Clock::duration duration);
  void note_failed_start(SlotState& slot_state, std::string const& reason, Clock::duration waited);
  void note_device(SlotState& slot_state, std::string const& trouble);

  boost::asio::any_io_executor executor_;
  config::FleetOptions options_;
  StartRunner start_;
  FleetLimits limits_;
  std::vector<SlotState> slots_;
  std::string last_trouble_;
  std::string isolation_;
  async::Semaphore queue_;            // whoever holds it is served next
  boost::asio::steady_timer change_;  // cancelled when a slot_state is given back
};

}  // namespace torchwatch::measure
