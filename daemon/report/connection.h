#pragma once

#include <chrono>
#include <memory>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "github/client.h"
#include "github/transport.h"
#include "storage/base/clock.h"
#include "storage/store.h"

namespace torchwatch::report {

using github::OpenTransport;

/// Returns a function that connects over HTTPS, as configured, through the proxy of this process's
/// variables.
OpenTransport https_transport(config::GithubOptions const& options);

/// The same for a webhook, with the system's certificates.
OpenTransport https_transport(config::WebhookOptions const& options);

/// Waits without blocking the loop.
boost::asio::awaitable<void> sleep_for(std::chrono::seconds duration);

/// The services that a client of GitHub uses. Tests replace each.
struct Network {
  OpenTransport open_transport;
  Clock const& clock;  ///< must outlive all clients
  github::Sleeper sleep = sleep_for;
  /// The tokens of all connections, so that an App's token serves for an hour. Null: each
  /// connection uses those of the configuration.
  std::shared_ptr<github::TokenSource> tokens{};
  /// No connection sends a request before. Shared by copies, and forgotten with the last: a restart
  /// tries again at once.
  std::shared_ptr<Timestamp> refused_until = std::make_shared<Timestamp>();
};

/// Call when GitHub refused a request. If every request to the repository would fail, connections
/// of this network send none for an hour: a person has to act first, and repeated refusals can get
/// an App suspended.
void pause_after(github::Refusal refusal, Network const& network);

/// Returns the tokens that `options` name: those of the App, or the token of the file, variable or
/// systemd credential, which is read for each request. Uses `network` except its tokens.
std::shared_ptr<github::TokenSource> configured_tokens(config::GithubOptions const& options,
                                                       Network const& network);

/// Returns a network whose tokens all connections share. `clock` must outlive it.
Network shared_network(config::GithubOptions const& options,
                       OpenTransport open_transport,
                       Clock const& clock,
                       github::Sleeper sleep);

/// Returns options of a client that repeats a request `retries` times. It sends nothing during a
/// pause that GitHub requested from any client of this store, also before a restart. `store` must
/// outlive it.
github::ClientOptions options_with_pause(storage::Store& store, int retries);

/// A client of GitHub with its transport.
class Connection {
 public:
  /// Opens a client with `options`. `client` sets the retries and the pauses. Without retries, it
  /// does not wait for limits; with retries, it waits a minute at most, since the next pass tries
  /// again. Without a token, its requests fail.
  static std::unique_ptr<Connection> open(config::GithubOptions const& options,
                                          Network const& network,
                                          github::ClientOptions client);

  Connection(Network const& network, github::ClientOptions options);

  github::Client& client() { return client_; }

 private:
  std::unique_ptr<github::Transport> transport_;
  github::Client client_;
};

}  // namespace torchwatch::report
