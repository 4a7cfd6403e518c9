#pragma once

#include <optional>

#include "daemon/net/listener.h"
#include "daemon/net/server_tls.h"

namespace torchwatch::net {

/// Where clients come in, and how they are to speak.
struct Door {
  Listener listener;
  std::optional<ServerTls> tls;  ///< nothing: in plain text
};

}  // namespace torchwatch::net
