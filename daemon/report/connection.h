#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "github/client.h"
#include "github/transport.h"
#include "storage/base/clock.h"
#include "storage/store.h"

namespace torchwatch::report {

/// Opens a connection to GitHub.
using OpenTransport = std::function<std::unique_ptr<github::Transport>()>;

/// Returns a function that connects over HTTPS, as configured, through the proxy of this process's
/// variables.
OpenTransport https_transport(config::GithubOptions const& options);

/// Waits without blocking the loop.
boost::asio::awaitable<void> sleep_for(std::chrono::seconds duration);

/// The services that a client of GitHub uses. Tests replace each.
struct Network {
  OpenTransport open_transport;
  Clock const& clock;  ///< must outlive all clients
  github::Sleeper sleep = sleep_for;
};

/// Returns options of a client that repeats a request `retries` times. It sends nothing during a
/// pause that GitHub requested from any client of this store, also before a restart. `store` must
/// outlive it.
github::ClientOptions options_with_pause(storage::Store& store, int retries);

/// A client of GitHub with its transport.
class Connection {
 public:
  /// Opens a client with `options`. `client` sets the retries and the pauses. Without retries, it
  /// does not wait for limits; with retries, it waits a minute at most, since the next pass tries
  /// again. Fails when there is no token.
  static Result<std::unique_ptr<Connection>> open(config::GithubOptions const& options,
                                                  Network const& network,
                                                  github::ClientOptions client);

  Connection(Network const& network, github::ClientOptions options);

  github::Client& client() { return client_; }

 private:
  std::unique_ptr<github::Transport> transport_;
  github::Client client_;
};

}  // namespace torchwatch::report
