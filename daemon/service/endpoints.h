#pragma once

#include <cstdint>

#include <boost/asio/any_io_executor.hpp>

#include "config/options.h"
#include "daemon/http/endpoint.h"
#include "daemon/http/http_origin.h"
#include "storage/base/result.h"

namespace torchwatch::service {

/// Listens as `http` describes, and reads its certificate; warns of a key that every user can read.
/// Fails with one line that names the problem or the invalid file.
Result<http::Endpoint> open_endpoint(boost::asio::any_io_executor const& executor,
                                     config::HttpOptions const& http);

/// Reads the certificate that `http` names; nothing when it names none. Fails as open_endpoint
/// does.
Result<std::optional<http::ServerTls>> open_tls(config::HttpOptions const& http);

/// Returns the address for clients on this machine; they trust exactly the configured certificate.
http::HttpOrigin origin_of(config::HttpOptions const& http);

}  // namespace torchwatch::service
