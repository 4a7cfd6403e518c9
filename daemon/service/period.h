#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include "daemon/api/health.h"
#include "daemon/http/endpoint.h"
#include "daemon/service/answering.h"
#include "daemon/service/checkup.h"
#include "daemon/service/reload.h"
#include "daemon/service/running_requests.h"
#include "daemon/service/service_manager.h"
#include "daemon/service/signals.h"
#include "daemon/service/watch.h"
#include "storage/store.h"

namespace torchwatch::service {

/// The parts of the service that stay when its configuration changes. All must outlive a period.
struct LastingParts {
  std::string executable;  ///< this program
  storage::Store& store;
  storage::Store& reader;
  Checkup const& checkup;
  ServiceManager const& manager;
  Signals& signals;
  ConfigurationFile const& file;
  boost::asio::any_io_executor sockets;     ///< the executor of listening sockets; never runs
  std::optional<http::Listener>& listener;  ///< clients connect here between periods, too
};

/// The longest times that a period waits for its running steps.
struct Patience {
  std::chrono::milliseconds at_stop{std::chrono::seconds{30}};
  std::chrono::milliseconds at_reload{std::chrono::minutes{10}};
};

/// A period in which the service uses one configuration: the watch loop and the HTTP thread. It
/// ends when a signal stops the service, or when SIGHUP brings another valid configuration.
///
/// At its end no further round or message begins. Running ones are finished and stored, for a
/// limited time. Everything else is cancelled: builds and downloads, which are repeated later.
/// Runners and recipes end with the watch loop.
class Period {
 public:
  /// Uses `configuration` except its listener. Serves HTTP at once. `endpoint` uses `answering`.
  Period(LastingParts& lasting,
         CheckedConfiguration configuration,
         std::unique_ptr<boost::asio::io_context> answering,
         http::Endpoint endpoint,
         Patience patience = {});
  Period(Period const&) = delete;
  Period& operator=(Period const&) = delete;
  ~Period();

  /// Runs until the period ends. Returns the next configuration; nothing when the service stops.
  /// Throws the exception of the watch loop.
  std::optional<CheckedConfiguration> run();

 private:
  using Steady = std::chrono::steady_clock;

  boost::asio::awaitable<void> watch();
  void receive(SignalRequest request);
  void reload();
  Result<CheckedConfiguration> read_next();
  void end_within(std::chrono::milliseconds patience, std::string const& reason);
  boost::asio::awaitable<void> finish_steps();

  LastingParts& lasting_;
  Patience patience_;
  config::Options options_;
  boost::asio::cancellation_signal cancel_;
  // Outlives the other loop: a request that never began there belongs to a client's connection.
  std::unique_ptr<boost::asio::io_context> answering_loop_;
  boost::asio::io_context loop_{1};
  api::SharedHealth health_;
  Watch watch_;
  RunningRequests requests_;
  Answering answering_;
  std::atomic<int> stops_ = 0;    // delivered and not received yet
  std::atomic<int> reloads_ = 0;  // the same
  bool is_stopping_ = false;
  bool is_ending_ = false;
  Steady::time_point deadline_{};
  std::optional<CheckedConfiguration> next_;
};

}  // namespace torchwatch::service
