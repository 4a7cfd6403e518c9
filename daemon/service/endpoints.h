#pragma once

#include <cstdint>

#include <boost/asio/any_io_executor.hpp>

#include "config/options.h"
#include "daemon/http/endpoint.h"
#include "daemon/http/http_origin.h"
#include "storage/base/result.h"

namespace torchwatch::service {

/// Listens as `http` says, and reads its certificate; warns of a key that every user can read.
/// Fails with one line that names what is in the way, or which file is no good.
Result<http::Endpoint> open_endpoint(boost::asio::any_io_executor const& executor,
                                     config::HttpOptions const& http);

/// The certificate that `http` names, nothing when it names none. Fails as open_endpoint does.
Result<std::optional<http::ServerTls>> open_tls(config::HttpOptions const& http);

/// Where clients on this machine find a service with this configuration; they trust the very
/// certificate that it names.
http::HttpOrigin origin_of(config::HttpOptions const& http);

}  // namespace torchwatch::service
