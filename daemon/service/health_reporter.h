#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/options.h"
#include "daemon/api/health.h"
#include "daemon/service/checkup.h"
#include "daemon/service/host_alarms.h"
#include "daemon/service/service.h"
#include "daemon/service/service_manager.h"
#include "storage/store.h"

namespace torchwatch::service {

/// Returns the health as one line for `systemctl status`: the problems, cut after 1000 bytes, or
/// "idle" or "measuring on 2 of 4 slots".
std::string status_line(api::HealthState const& health, api::HealthState::Instant now);

/// Publishes the watch loop's health every 5 s, for the HTTP thread and the service manager, and
/// raises the alarms about the host. It runs on the watch loop, so a loop that is blocked stops
/// publishing. The service manager then restarts the service (WatchdogSec=).
class HealthReporter {
 public:
  /// All must outlive it.
  HealthReporter(boost::asio::any_io_executor const& executor,
                 config::Options const& options,
                 storage::Store& store,
                 Service& service,
                 Checkup const& checkup,
                 ServiceManager const& manager,
                 api::SharedHealth& health)
      : options_{options},
        store_{store},
        service_{service},
        checkup_{checkup},
        manager_{manager},
        health_{health},
        host_alarms_{store},
        timer_{executor} {}

  /// Publishes every five seconds from now on, until it is destroyed. The first time reports to the
  /// service manager that the service is ready, so the HTTP server must run already.
  void start();

  /// Notes that a pass has ended; `failure` is empty if it succeeded.
  void note_pass(Timestamp at, std::string failure);

 private:
  void publish();
  void try_store();
  void notify_manager();
  void check_host();

  config::Options const& options_;
  storage::Store& store_;
  Service& service_;
  Checkup const& checkup_;
  ServiceManager const& manager_;
  api::SharedHealth& health_;
  api::HealthState state_;
  SystemClock clock_;
  HostAlarms host_alarms_;
  boost::asio::steady_timer timer_;
  int published_ = 0;
  bool is_ready_ = false;  ///< the service manager knows
};

}  // namespace torchwatch::service
