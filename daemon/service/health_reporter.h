#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/options.h"
#include "daemon/api/health.h"
#include "daemon/service/checkup.h"
#include "daemon/service/service.h"
#include "storage/store.h"

namespace torchwatch::service {

/// Publishes the watch loop's health every 5 s, for the HTTP thread. It runs on the watch loop, so
/// a loop that is blocked stops publishing.
class HealthReporter {
 public:
  /// All must outlive it.
  HealthReporter(boost::asio::any_io_executor const& executor,
                 config::Options const& options,
                 storage::Store& store,
                 Service& service,
                 Checkup const& checkup,
                 api::SharedHealth& health)
      : options_{options},
        store_{store},
        service_{service},
        checkup_{checkup},
        health_{health},
        timer_{executor} {}

  /// Publishes every five seconds from now on, until it is destroyed.
  void start();

  /// Notes that a pass has ended; `failure` is empty if it succeeded.
  void note_pass(Timestamp at, std::string failure);

 private:
  void publish();
  void try_store();

  config::Options const& options_;
  storage::Store& store_;
  Service& service_;
  Checkup const& checkup_;
  api::SharedHealth& health_;
  api::HealthState state_;
  boost::asio::steady_timer timer_;
  int published_ = 0;
};

}  // namespace torchwatch::service
