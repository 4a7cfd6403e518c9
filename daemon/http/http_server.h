#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/http/endpoint.h"
#include "daemon/http/http_server_options.h"

namespace torchwatch::http {

/// Serves HTTP/1.1 with keep-alive until the coroutine is cancelled. Then it stops listening,
/// closes idle connections, gives responses in progress `grace` to finish, and returns when all
/// connections are closed.
///
/// The handler gets HEAD as GET. It answers or refuses every other method. Every response has Date
/// and X-Content-Type-Options, and Content-Length if it has an end. A renewed certificate is used
/// for the next connection. If it is unusable, that is reported, and the previous one stays in use.
/// Single-threaded: runs on the caller's executor.
boost::asio::awaitable<void> serve_http(Endpoint endpoint,
                                        Handler handler,
                                        HttpServerOptions options = {});

}  // namespace torchwatch::http
