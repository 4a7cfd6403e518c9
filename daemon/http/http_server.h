#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/http/endpoint.h"
#include "daemon/http/http_server_options.h"

namespace torchwatch::http {

/// Serves HTTP/1.1 with keep-alive until the coroutine is cancelled. Then it stops listening, hangs
/// up on idle clients, lets answers in progress be finished for `grace`, and returns when no
/// connection is left.
///
/// HEAD is asked of the handler as GET; every other method is the handler's to answer or to refuse.
/// Every answer carries Date, Content-Length and X-Content-Type-Options. A certificate that is
/// renewed is used for the next connection; one that is renewed and no good is reported, and the
/// one before stays. Single-threaded: on the caller's executor.
boost::asio::awaitable<void> serve_http(Endpoint endpoint,
                                        Handler handler,
                                        HttpServerOptions options = {});

}  // namespace torchwatch::http
