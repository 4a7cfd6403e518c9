#pragma once

#include <optional>

#include "daemon/http/listener.h"
#include "daemon/http/server_tls.h"

namespace torchwatch::http {

/// The listener of a server, and TLS if clients must use it.
struct Endpoint {
  Listener listener;
  std::optional<ServerTls> tls;  ///< nothing: plain text
};

}  // namespace torchwatch::http
