#pragma once

#include <functional>
#include <memory>

#include "config/options.h"
#include "github/client.h"
#include "github/transport.h"
#include "storage/base/clock.h"

namespace torchwatch::report {

/// Opens a way to GitHub.
using OpenTransport = std::function<std::unique_ptr<github::Transport>()>;

/// Over HTTPS, as configured, by the proxy that this process's variables name.
OpenTransport https_transport(config::GithubOptions const& options);

/// A client of GitHub, and what it works with.
class Connection {
 public:
  /// `retries`: how often a request is repeated; with none, limits are not waited for either, and
  /// with some for a minute at most: the next pass comes back. Fails when there is no token.
  static Result<std::unique_ptr<Connection>> open(config::GithubOptions const& options,
                                                  OpenTransport const& open_transport,
                                                  int retries);

  Connection(std::unique_ptr<github::Transport> transport, github::ClientOptions options);

  github::Client& client() { return client_; }

 private:
  std::unique_ptr<github::Transport> transport_;
  SystemClock clock_;
  github::Client client_;
};

}  // namespace torchwatch::report
