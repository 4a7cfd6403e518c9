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

/// Opens a way to GitHub.
using OpenTransport = std::function<std::unique_ptr<github::Transport>()>;

/// Over HTTPS, as configured, by the proxy that this process's variables name.
OpenTransport https_transport(config::GithubOptions const& options);

/// Waits on a timer of the loop.
boost::asio::awaitable<void> sleep_for(std::chrono::seconds duration);

/// What a client of GitHub needs besides its options. Tests replace each.
struct Network {
  OpenTransport open_transport;
  Clock const& clock;  ///< must outlive all clients
  github::Sleeper sleep = sleep_for;
};

/// Options of a client that repeats a request `retries` times, and that sends nothing during a
/// pause which GitHub asked any client of this store for, before a restart too. `store` must
/// outlive it.
github::ClientOptions options_with_pause(storage::Store& store, int retries);

/// A client of GitHub, and what it works with.
class Connection {
 public:
  /// Fills in what `options` says. Of `client` is taken how often a request is repeated, and which
  /// pauses hold; without repetitions, limits are not waited for either, and with some for a minute
  /// at most: the next pass comes back. Fails when there is no token.
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
