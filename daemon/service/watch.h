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

/// The watching half of the service: passes over the feed, one after the other, on the main
/// thread's loop. Everything but the constructor is called on that loop.
class Watch {
 public:
  /// `options`, `store`, `checkup` and `health` must outlive it.
  Watch(boost::asio::any_io_executor executor,
        config::Options const& options,
        std::string const& executable,
        storage::Store& store,
        Checkup const& checkup,
        api::SharedHealth& health)
      : options_{options},
        store_{store},
        service_{executor, options, executable, store, clock_},
        health_reporter_{executor, options, store, service_, checkup, health},
        rest_{executor} {}

  /// What happened since the start; for any thread.
  metrics::Counters& counters() { return service_.counters; }

  /// Never returns; ends by cancellation, and all bisections with it.
  boost::asio::awaitable<int> run();

  /// See bisection::Queue::ask, which this is, and starts it.
  boost::asio::awaitable<Result<Bisection>> ask(BisectionOrder order);

  /// See bisection::Queue::steer.
  boost::asio::awaitable<Result<Bisection>> steer(BisectionId id, BisectionState state);

  /// See builds::carry_out; a build to be fetched is fetched by a pass that begins now.
  boost::asio::awaitable<Result<std::vector<KeptBuild>>> request_build(
      builds::BuildRequest request);

  /// See report::give_ruling.
  boost::asio::awaitable<Result<Ruling>> rule(Ruling ruling);

 private:
  boost::asio::awaitable<int> pass_for_ever();
  boost::asio::awaitable<void> pass();

  config::Options const& options_;
  storage::Store& store_;
  SystemClock clock_;
  Service service_;
  HealthReporter health_reporter_;
  boost::asio::steady_timer rest_;
};

}  // namespace torchwatch::service
