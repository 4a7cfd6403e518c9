#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "tests/fakes/github/certificates.h"
#include "tests/fakes/github/fake_github.h"
#include "tests/fakes/loopback/loopback_server.h"

namespace torchwatch::fakes {

/// Serves a FakeGithub over TLS on 127.0.0.1, on its own thread, until it is destroyed.
class FakeGithubServer {
 public:
  /// Port 0 selects any free port. `github` must outlive the server. Throws when it cannot listen.
  FakeGithubServer(FakeGithub& github, ServerIdentity const& identity, std::uint16_t port = 0);
  FakeGithubServer(FakeGithubServer const&) = delete;
  FakeGithubServer& operator=(FakeGithubServer const&) = delete;

  /// Returns "https://127.0.0.1:PORT".
  std::string const& url() const { return url_; }

 private:
  boost::asio::ssl::context context_;
  LoopbackServer server_;  // uses the context on its thread
  std::string url_;
};

}  // namespace torchwatch::fakes
