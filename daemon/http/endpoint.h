#pragma once

#include <optional>

#include "daemon/http/listener.h"
#include "daemon/http/server_tls.h"

namespace torchwatch::http {

/// Where clients come in, and how they are to speak.
struct Endpoint {
  Listener listener;
  std::optional<ServerTls> tls;  ///< nothing: in plain text
};

}  // namespace torchwatch::http
