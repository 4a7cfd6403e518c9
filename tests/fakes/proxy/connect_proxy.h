#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "tests/fakes/loopback/loopback_server.h"

namespace torchwatch::fakes {

/// The behavior of a proxy.
struct ProxyManners {
  std::string authorization{};  ///< required header; others are answered with 407. Empty: any
  int status = 0;               ///< answered instead of a connection; 0: none
  bool is_silent = false;       ///< accepts connections and never answers
};

/// A received request.
struct ProxyRequest {
  std::string target;         ///< "HOST:PORT"
  std::string authorization;  ///< Proxy-Authorization; empty: none
};

/// An HTTP proxy on 127.0.0.1, on its own thread, that only supports CONNECT, to any target.
/// Thread-safe.
class ConnectProxy {
 public:
  /// Starts the proxy on any free port. Throws when it cannot listen.
  explicit ConnectProxy(ProxyManners manners = {});
  ConnectProxy(ConnectProxy const&) = delete;
  ConnectProxy& operator=(ConnectProxy const&) = delete;

  /// Returns "127.0.0.1:PORT".
  std::string const& address() const { return address_; }

  ProxyManners const& manners() const { return manners_; }

  /// Returns all requests so far, in order.
  std::vector<ProxyRequest> requests() const;

  /// Records a request. For the server's thread.
  void note(ProxyRequest request);

 private:
  ProxyManners manners_;
  mutable std::mutex mutex_;
  std::vector<ProxyRequest> requests_;
  LoopbackServer server_;  // uses the other members on its thread
  std::string address_;
};

}  // namespace torchwatch::fakes
