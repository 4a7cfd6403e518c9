#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/async/turnstile.h"
#include "runner/child_process.h"
#include "runner/protocol.h"

namespace torchwatch {

class Fleet;

/// One slot of a fleet, held alone: everything run through it is measured on the same host, one job
/// at a time. Gives the slot back when it goes. The fleet must outlive it.
class Lease {
 public:
  Lease(Fleet& fleet, std::size_t slot, Turnstile::Pass pass)
      : fleet_{&fleet},
        slot_{slot},
        pass_{std::move(pass)} {}

  Lease(Lease&& other) noexcept
      : fleet_{std::exchange(other.fleet_, nullptr)},
        slot_{other.slot_},
        pass_{std::move(other.pass_)} {}

  Lease(Lease const&) = delete;
  Lease& operator=(Lease const&) = delete;
  Lease& operator=(Lease&&) = delete;
  ~Lease();

  /// The fleet's name.
  std::string const& fleet() const;

  using OnProgress = std::function<void(protocol::Progress const&)>;

  /// Runs jobs that take turns and returns the Outcome or Failure of each, in their order. A runner
  /// that vanishes or stays silent beyond the jobs' limits is a Failure with code "lost"; the next
  /// round starts a new one. So it does when this one is cancelled, which ends the runner.
  boost::asio::awaitable<std::vector<protocol::Message>> run(protocol::Round round,
                                                             OnProgress on_progress);

 private:
  Fleet* fleet_;
  std::size_t slot_;
  Turnstile::Pass pass_;
};

/// The runners of one fleet: at most `slots` processes, each started when first needed through the
/// fleet's launcher. Single-threaded. Ends its runners when it goes.
class Fleet {
 public:
  /// `executable`: this program, as it is called on the fleet's hosts.
  Fleet(boost::asio::any_io_executor executor,
        config::FleetOptions options,
        std::string executable);

  /// Waits until a slot is free and everybody who came before has one.
  boost::asio::awaitable<Lease> lease();

  std::string const& name() const { return options_.name; }

  Device device() const { return options_.device; }

  int slots() const { return options_.slots; }

 private:
  friend class Lease;

  boost::asio::awaitable<std::vector<protocol::Message>> run(std::size_t slot,
                                                             protocol::Round round,
                                                             Lease::OnProgress on_progress);
  boost::asio::awaitable<Result<>> start_runner(std::size_t slot);

  boost::asio::any_io_executor executor_;
  config::FleetOptions options_;
  std::string executable_;
  std::vector<std::optional<runner::ChildProcess>> runners_;  // by slot; empty until first needed
  std::vector<std::size_t> idle_;
  Turnstile gate_;  // one place a slot
};

}  // namespace torchwatch
