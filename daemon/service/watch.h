#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/options.h"
#include "daemon/builds/build_request.h"
#include "daemon/service/health_reporter.h"
#include "daemon/service/service.h"
#include "storage/store.h"

namespace torchwatch::service {

/// The watch loop of the service: passes over the feed, one after the other, on the main thread.
/// All methods except the constructor are called on that loop.
class Watch {
 public:
  /// `options`, `store`, `checkup`, `manager` and `health` must outlive it.
  Watch(boost::asio::any_io_executor executor,
        config::Options const& options,
        std::string const& executable,
        storage::Store& store,
        Checkup const& checkup,
        ServiceManager const& manager,
        api::SharedHealth& health)
      : options_{options},
        store_{store},
        service_{executor, options, executable, store, clock_},
        health_reporter_{executor, options, store, service_, checkup, manager, health},
        rest_{executor} {}

  /// Counters of events since the start; for any thread.
  metrics::Counters& counters() { return service_.counters; }

  /// Lets no round and no message begin from now on.
  void hold_new_steps();

  /// The number of rounds and messages that have begun and are not stored yet.
  int running_steps();

  /// Never returns; cancellation ends it and all bisections.
  boost::asio::awaitable<int> run();

  /// Does what ServiceParts::ask does.
  boost::asio::awaitable<Result<Bisection>> ask(BisectionOrder order);

  /// Does what bisection::Queue::steer does.
  boost::asio::awaitable<Result<Bisection>> steer(BisectionId id, BisectionState state);

  /// Does what builds::carry_out does; a pass that starts now fetches a requested build.
  boost::asio::awaitable<Result<std::vector<KeptBuild>>> request_build(
      builds::BuildRequest request);

  /// Does what report::give_ruling does.
  boost::asio::awaitable<Result<Ruling>> rule(Ruling ruling);

 private:
  boost::asio::awaitable<int> work_for_ever();
  boost::asio::awaitable<int> pass_for_ever();
  boost::asio::awaitable<void> pass();
  boost::asio::awaitable<void> rest();

  config::Options const& options_;
  storage::Store& store_;
  SystemClock clock_;
  Service service_;
  HealthReporter health_reporter_;
  boost::asio::steady_timer rest_;
};

}  // namespace torchwatch::service
