#pragma once

#include <cstdint>
#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>

#include "tests/fakes/github/certificates.h"
#include "tests/fakes/github/fake_github.h"

namespace torchwatch::fakes {

/// Shows a FakeGithub over TLS on 127.0.0.1, on a thread of its own, until it is destroyed.
class FakeGithubServer {
 public:
  /// Port 0 takes any free one. `github` must outlive the server. Throws when it cannot listen.
  FakeGithubServer(FakeGithub& github, ServerIdentity const& identity, std::uint16_t port = 0);
  FakeGithubServer(FakeGithubServer const&) = delete;
  FakeGithubServer& operator=(FakeGithubServer const&) = delete;
  ~FakeGithubServer();

  /// "https://127.0.0.1:PORT"
  std::string const& url() const { return url_; }

 private:
  boost::asio::io_context loop_{1};
  std::string url_;
  std::thread thread_;
};

}  // namespace torchwatch::fakes
