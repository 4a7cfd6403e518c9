#include "daemon/http/http_server.h"

#include <chrono>
#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "daemon/async/task_group.h"
#include "daemon/http/connection_limits.h"
#include "daemon/http/http_connection.h"
#include "daemon/http/peer.h"

namespace torchwatch::http {
namespace {

namespace asio = boost::asio;
namespace this_coro = asio::this_coro;

constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);

constexpr std::chrono::milliseconds pause_after_failed_accept{100};

/// The state of serve_http, in its coroutine frame.
struct Server {
  Server(asio::any_io_executor const& executor,
         std::optional<ServerTls> server_tls,
         Handler handler,
         HttpServerOptions options)
      : context{std::move(handler), std::move(options)},
        tls{std::move(server_tls)},
        connections{executor, reporter()},
        refusals{executor, reporter()} {}

  async::TaskGroup::Report reporter() {
    return [this](std::string const& name, std::exception_ptr failure) {
      context.options.report("http " + name + " ended: " + describe(failure));
    };
  }

  ServerContext context;
  std::optional<ServerTls> tls;
  ConnectionLimits limits{context.options};
  async::TaskGroup connections;
  async::TaskGroup refusals;
};

/// Serves one connection to its end. `guest` counts it until then.
asio::awaitable<void> serve_connection(Socket socket,
                                       ConnectionLimits::Guest guest,
                                       Server& server) {
  auto present = std::move(guest);
  auto take_place = [&present, &server] {
    return server.limits.let_listen(present);
  };
  PlainStream line{std::move(socket)};
  if (server.tls) {
    TlsStream stream{std::move(line), server.tls->context()};
    HttpConnection<TlsStream> connection{std::move(stream), server.context, take_place};
    co_await connection.serve();
  } else {
    HttpConnection<PlainStream> connection{std::move(line), server.context, take_place};
    co_await connection.serve();
  }
}

asio::awaitable<void> refuse_connection(Socket socket, Server& server) {
  PlainStream line{std::move(socket)};
  HttpConnection<PlainStream> connection{std::move(line), server.context};
  co_await connection.refuse();
}

/// Serves a client if the limits allow it. Otherwise it responds so, but only without TLS and to a
/// limited number of clients at a time.
void receive_client(Socket socket, Server& server) {
  auto peer = peer_of(socket);
  if (server.limits.has_place_for(peer)) {
    if (server.tls) {
      if (auto const renewed = server.tls->renew(); !renewed)
        server.context.options.report(
            "http certificate not renewed, the previous one stays in use: " +
            renewed.error().message);
    }
    ConnectionLimits::Guest guest{server.limits, std::move(peer)};
    server.connections.spawn("connection",
                             serve_connection(std::move(socket), std::move(guest), server));
  } else if (!server.tls && server.refusals.size() < server.context.options.connections) {
    server.refusals.spawn("refusal", refuse_connection(std::move(socket), server));
  }
}

/// Accepts connections. Returns, without an exception, when the caller is cancelled.
asio::awaitable<void> accept_connections(Listener listener, Server& server) {
  auto& acceptor = listener.acceptor();
  asio::steady_timer pause{acceptor.get_executor()};
  bool failing = false;
  auto const state = co_await this_coro::cancellation_state;
  while (state.cancelled() == asio::cancellation_type::none) {
    auto [failed, socket] = co_await acceptor.async_accept(no_throw);
    if (failed == asio::error::operation_aborted) co_return;
    if (failed && !failing)
      server.context.options.report("http cannot accept connections: " + failed.message());
    failing = failed.failed();
    if (failing) {
      pause.expires_after(pause_after_failed_accept);
      [[maybe_unused]] auto const [ended] = co_await pause.async_wait(no_throw);
    } else {
      receive_client(std::move(socket), server);
    }
  }
}

asio::awaitable<void> wait(asio::steady_timer& timer) {
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> finish_connections(Server& server) {
  using namespace asio::experimental::awaitable_operators;
  server.context.stopping = true;
  server.refusals.cancel();
  server.connections.cancel(asio::cancellation_type::total);
  auto const executor = co_await this_coro::executor;
  asio::steady_timer grace{executor, server.context.options.grace};
  auto joined = server.connections.join();
  auto patience = wait(grace);
  co_await (std::move(joined) || std::move(patience));
  server.connections.cancel();
  co_await server.connections.join();
  co_await server.refusals.join();
}

}  // namespace

asio::awaitable<void> serve_http(Endpoint endpoint, Handler handler, HttpServerOptions options) {
  auto const executor = co_await this_coro::executor;
  Server server{executor, std::move(endpoint.tls), std::move(handler), std::move(options)};
  co_await this_coro::throw_if_cancelled(false);
  co_await accept_connections(std::move(endpoint.listener), server);
  co_await this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await finish_connections(server);
}

}  // namespace torchwatch::http
