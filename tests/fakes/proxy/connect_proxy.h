#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "tests/fakes/loopback/loopback_server.h"

namespace torchwatch::fakes {

/// How a proxy treats those who ask it.
struct ProxyManners {
  std::string authorization{};  ///< the header that it wants; others are answered 407. Empty: none
  int status = 0;               ///< answered in the place of a connection
  bool is_silent = false;       ///< takes connections, and says nothing
};

/// A CONNECT, as it came.
struct ProxyRequest {
  std::string target;         ///< "HOST:PORT"
  std::string authorization;  ///< Proxy-Authorization; empty: none
};

/// An HTTP proxy on 127.0.0.1, on a thread of its own, that connects to whatever it is asked for
/// (CONNECT) and to nothing else.
class ConnectProxy {
 public:
  /// Throws when it cannot listen.
  explicit ConnectProxy(ProxyManners manners = {});
  ConnectProxy(ConnectProxy const&) = delete;
  ConnectProxy& operator=(ConnectProxy const&) = delete;

  /// "127.0.0.1:PORT"
  std::string const& address() const { return address_; }

  ProxyManners const& manners() const { return manners_; }

  std::vector<ProxyRequest> requests() const;

  void note(ProxyRequest request);

 private:
  ProxyManners manners_;
  mutable std::mutex mutex_;
  std::vector<ProxyRequest> requests_;
  LoopbackServer server_;  // uses the others on its thread
  std::string address_;
};

}  // namespace torchwatch::fakes
