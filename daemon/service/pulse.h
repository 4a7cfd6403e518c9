#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/options.h"
#include "daemon/api/health.h"
#include "daemon/service/checkup.h"
#include "daemon/service/service.h"
#include "storage/store.h"

namespace torchwatch::service {

/// Feels how the watching half is, and tells it to the answering one. On the watching loop, so that
/// a loop that is blocked stops telling.
class Pulse {
 public:
  /// All must outlive it.
  Pulse(boost::asio::any_io_executor const& executor,
        config::Options const& options,
        storage::Store& store,
        Service& service,
        Checkup const& checkup,
        api::VitalSigns& signs)
      : options_{options},
        store_{store},
        service_{service},
        checkup_{checkup},
        signs_{signs},
        timer_{executor} {}

  /// Beats every five seconds from now on, for as long as it lives.
  void start();

  /// A pass has ended; `failure` is empty when it came to its end.
  void note_pass(Timestamp at, std::string failure);

 private:
  void beat();
  void try_store();

  config::Options const& options_;
  storage::Store& store_;
  Service& service_;
  Checkup const& checkup_;
  api::VitalSigns& signs_;
  api::Vitals vitals_;
  boost::asio::steady_timer timer_;
  int beats_ = 0;
};

}  // namespace torchwatch::service
