#pragma once

#include <optional>

#include <boost/asio/any_io_executor.hpp>

#include "config/options.h"
#include "daemon/http/http_origin.h"
#include "daemon/http/listener.h"
#include "daemon/http/server_tls.h"
#include "storage/base/result.h"

namespace torchwatch::service {

/// Listens as `http` describes. Fails with one line that names the problem.
Result<http::Listener> open_listener(boost::asio::any_io_executor const& executor,
                                     config::HttpOptions const& http);

/// Warns of a private key that every user can read.
void warn_of_exposed_key(config::HttpOptions const& http);

/// Reads the certificate that `http` names; nothing when it names none. Fails with one line
/// that names the invalid file.
Result<std::optional<http::ServerTls>> open_tls(config::HttpOptions const& http);

/// Returns the address for clients on this machine; they trust exactly the configured certificate.
http::HttpOrigin origin_of(config::HttpOptions const& http);

}  // namespace torchwatch::service
