#include "daemon/net/http_server.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <fmt/chrono.h>

#include "daemon/async/task_group.h"

namespace torchwatch::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace this_coro = asio::this_coro;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);

/// How long a client may go on sending after the last answer. Hanging up at once would take the
/// answer back.
constexpr std::chrono::seconds linger{1};
constexpr std::chrono::milliseconds pause_after_failed_accept{100};
/// Beyond the header: what one read may bring of the body.
constexpr std::size_t read_ahead_bytes = 64 * 1024;
/// Nothing reads the body of a GET.
constexpr std::uint64_t share_of_get = 16;

std::string describe(std::exception_ptr const& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (std::exception const& problem) {
    return problem.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

/// Who is at the other end, as far as it counts as one.
struct Peer {
  std::string name;
  bool is_loopback = false;
};

Peer peer_of(tcp::socket const& socket) {
  error_code gone;
  auto address = socket.remote_endpoint(gone).address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  if (!address.is_v6()) return {address.to_string(), address.is_loopback()};
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
  return {asio::ip::make_address_v6(bytes).to_string(), address.is_loopback()};
}

/// What all connections share. Lives in the frame of serve_http.
struct Server {
  Server(asio::any_io_executor const& executor, Handler answer, HttpServerOptions limits)
      : handler{std::move(answer)},
        options{std::move(limits)},
        connections{executor, reporter()},
        refusals{executor, reporter()} {}

  async::TaskGroup::Report reporter() {
    return [this](std::string const& name, std::exception_ptr failure) {
      options.report("http " + name + " ended: " + describe(failure));
    };
  }

  bool has_place_for(Peer const& peer) const {
    auto const kept =
        peer.is_loopback ? 0 : std::min(options.kept_for_loopback, options.connections);
    auto const here = connections_of.find(peer.name);
    return connections.size() < options.connections - kept &&
           (here == connections_of.end() || here->second < options.connections_of_peer);
  }

  Handler handler;
  HttpServerOptions options;
  bool stopping = false;
  std::map<std::string, std::size_t> connections_of;  ///< by peer
  async::TaskGroup connections;
  async::TaskGroup refusals;
};

/// A request, or the answer to what was none; neither when the client has left.
struct Incoming {
  std::optional<HttpRequest> request;
  std::optional<HttpResponse> refusal;
  bool is_read = false;  ///< to its end, so that another may follow
};

using Parser = http::request_parser<http::string_body>;

/// Without its body.
HttpRequest head_of(Parser::value_type const& message) {
  HttpRequest request;
  auto const method = message.method_string();
  request.method = message.method() == http::verb::head ? "GET" : std::string{method};
  request.target = std::string{message.target()};
  for (auto const& field : message) {
    auto& value = request.headers[boost::to_lower_copy(std::string{field.name_string()})];
    if (!value.empty()) value += ", ";
    value += std::string{field.value()};
  }
  return request;
}

/// The answer to bytes that are no request. Nothing when nobody waits for an answer.
std::optional<HttpResponse> refusal_of(error_code const& code, HttpServerOptions const& options) {
  if (code == http::error::end_of_stream || code == http::error::partial_message)
    return std::nullopt;
  if (code == http::error::header_limit || code == http::error::buffer_overflow) {
    return problem(431,
                   "header: found more than " + std::to_string(options.header_bytes) +
                       " bytes, allowed " + std::to_string(options.header_bytes));
  }
  if (code == http::error::body_limit) {
    return problem(413,
                   "body: found more than " + std::to_string(options.body_bytes) +
                       " bytes, allowed " + std::to_string(options.body_bytes));
  }
  if (code.category() == http::make_error_code(http::error::bad_method).category())
    return problem(400, "request: found " + code.message() + ", allowed HTTP/1.1");
  return std::nullopt;
}

/// What a well-formed header may still not ask for.
std::optional<HttpResponse> objection_to(Parser::value_type const& header) {
  // A coding that is not undone here would leave the body to be read as the next request.
  if (header.count(http::field::transfer_encoding) > 0 &&
      !beast::iequals(header[http::field::transfer_encoding], "chunked"))
    return problem(501, "Transfer-Encoding: found another coding, allowed chunked");
  if (header.version() >= 11 && header.count(http::field::host) != 1)
    return problem(400,
                   "Host: found " + std::to_string(header.count(http::field::host)) +
                       " fields, allowed exactly one");
  return std::nullopt;
}

class Connection {
 public:
  Connection(tcp::socket socket, Server& server)
      : stream_{std::move(socket)},
        buffer_{server.options.header_bytes + read_ahead_bytes},
        server_{server} {}

  asio::awaitable<void> serve();
  asio::awaitable<void> refuse();

 private:
  asio::awaitable<Incoming> receive();
  asio::awaitable<HttpResponse> answer(HttpRequest request);
  /// False when the client did not take it.
  asio::awaitable<bool> send(HttpResponse response, bool keep_alive);
  asio::awaitable<void> hang_up();

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  Server& server_;
  // of the request in progress:
  unsigned version_ = 11;
  bool is_head_ = false;
  bool keep_alive_ = false;
};

asio::awaitable<void> Connection::serve() {
  // A client that has not been heard out may be left at any signal, one that waits for its answer
  // at the last only.
  auto const at_any_signal = [](asio::cancellation_type kind) {
    using enum asio::cancellation_type;
    return kind == none ? none : terminal;
  };
  for (bool again = true; again;) {
    co_await this_coro::reset_cancellation_state(at_any_signal);
    auto incoming = co_await receive();
    co_await this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
    if (!incoming.request && !incoming.refusal) co_return;
    HttpResponse response;
    if (incoming.request)
      response = co_await answer(std::move(*incoming.request));
    else
      response = std::move(*incoming.refusal);
    again = incoming.is_read && keep_alive_ && !server_.stopping;
    bool const taken = co_await send(std::move(response), again);
    if (!taken) co_return;
  }
  co_await hang_up();
}

asio::awaitable<void> Connection::refuse() {
  auto const& options = server_.options;
  auto response = problem(503,
                          "connections: found too many, allowed " +
                              std::to_string(options.connections_of_peer) + " of one client, " +
                              std::to_string(options.connections) + " in all");
  response.headers["retry-after"] = "1";
  bool const taken = co_await send(std::move(response), false);
  if (taken) co_await hang_up();
}

asio::awaitable<Incoming> Connection::receive() {
  Parser parser;
  parser.header_limit(server_.options.header_bytes);
  parser.body_limit(server_.options.body_bytes);
  stream_.expires_after(server_.options.read_timeout);
  Incoming incoming;

  auto const [bad_header, header_size] =
      co_await http::async_read_header(stream_, buffer_, parser, as_tuple);
  auto const& header = parser.get();
  version_ = header.version() == 10 ? 10 : 11;
  is_head_ = header.method() == http::verb::head;
  keep_alive_ = !bad_header && parser.keep_alive();
  incoming.refusal = bad_header ? refusal_of(bad_header, server_.options) : objection_to(header);
  if (bad_header || incoming.refusal) co_return incoming;
  auto head = head_of(header);
  incoming.refusal = server_.options.doorman(head);
  incoming.is_read = parser.is_done();
  if (incoming.refusal) co_return incoming;

  if (header.method() == http::verb::get || is_head_)
    parser.body_limit(server_.options.body_bytes / share_of_get);
  if (version_ == 11 && beast::iequals(header[http::field::expect], "100-continue")) {
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    auto const line = asio::buffer(go_on);
    [[maybe_unused]] auto const [lost, size] =
        co_await asio::async_write(stream_, line, as_tuple);  // a lost client is seen by the read
  }
  auto const [bad_body, body_size] = co_await http::async_read(stream_, buffer_, parser, as_tuple);
  incoming.is_read = !bad_body;
  if (bad_body) {
    incoming.refusal = refusal_of(bad_body, server_.options);
  } else {
    head.body = std::move(parser.get().body());
    incoming.request = std::move(head);
  }
  co_return incoming;
}

asio::awaitable<HttpResponse> Connection::answer(HttpRequest request) {
  auto const asked = request.method + " " + request.target.substr(0, request.target.find('?'));
  try {
    auto response = co_await server_.handler(std::move(request));
    co_return response;
  } catch (...) {
    server_.options.report("http answer failed: " + asked + ": " +
                           describe(std::current_exception()));
  }
  co_return problem(500, "the service failed to answer; its log says why");
}

asio::awaitable<bool> Connection::send(HttpResponse response, bool keep_alive) {
  http::response<http::string_body> message;
  message.version(version_);
  message.result(static_cast<unsigned>(response.status));
  for (auto const& [name, value] : response.headers)
    message.set(name, value);
  auto const now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  message.set(http::field::date, fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", now));
  message.set("X-Content-Type-Options", "nosniff");
  message.keep_alive(keep_alive);
  if (message.result() != http::status::no_content) message.content_length(response.body.size());
  message.body() = std::move(response.body);

  http::response_serializer<http::string_body> serializer{message};
  stream_.expires_after(server_.options.write_timeout);
  error_code failed;
  std::size_t size = 0;
  if (is_head_)
    std::tie(failed, size) = co_await http::async_write_header(stream_, serializer, as_tuple);
  else
    std::tie(failed, size) = co_await http::async_write(stream_, serializer, as_tuple);
  co_return !failed;
}

asio::awaitable<void> Connection::hang_up() {
  error_code failed;
  stream_.socket().shutdown(tcp::socket::shutdown_send, failed);
  stream_.expires_after(linger);
  std::array<char, 4096> rest{};
  auto const space = asio::buffer(rest);
  while (!failed) {
    std::size_t size = 0;
    std::tie(failed, size) = co_await stream_.async_read_some(space, as_tuple);
  }
}

/// One more of a peer, as long as it lives.
class Guest {
 public:
  Guest(Server& server, std::string peer) : server_{server}, peer_{std::move(peer)} {
    ++server_.connections_of[peer_];
  }

  Guest(Guest const&) = delete;
  Guest& operator=(Guest const&) = delete;

  ~Guest() {
    auto const here = server_.connections_of.find(peer_);
    if (--here->second == 0) server_.connections_of.erase(here);
  }

 private:
  Server& server_;
  std::string peer_;
};

asio::awaitable<void> serve_connection(tcp::socket socket, std::string peer, Server& server) {
  Guest const guest{server, std::move(peer)};
  Connection connection{std::move(socket), server};
  co_await connection.serve();
}

asio::awaitable<void> refuse_connection(tcp::socket socket, Server& server) {
  Connection connection{std::move(socket), server};
  co_await connection.refuse();
}

/// Returns when its caller is cancelled, whom that must not make throw.
asio::awaitable<void> accept_connections(tcp::acceptor acceptor, Server& server) {
  asio::steady_timer pause{acceptor.get_executor()};
  bool failing = false;
  auto const state = co_await this_coro::cancellation_state;
  while (state.cancelled() == asio::cancellation_type::none) {
    auto [failed, socket] = co_await acceptor.async_accept(as_tuple);
    if (failed == asio::error::operation_aborted) co_return;
    if (failed && !failing)
      server.options.report("http cannot accept connections: " + failed.message());
    failing = failed.failed();
    if (failing) {
      pause.expires_after(pause_after_failed_accept);
      [[maybe_unused]] auto const [ended] = co_await pause.async_wait(as_tuple);
    } else if (auto peer = peer_of(socket); server.has_place_for(peer)) {
      auto connection = serve_connection(std::move(socket), std::move(peer.name), server);
      server.connections.spawn("connection", std::move(connection));
    } else if (server.refusals.size() < server.options.connections) {
      server.refusals.spawn("refusal", refuse_connection(std::move(socket), server));
    }
  }
}

asio::awaitable<void> wait(asio::steady_timer& timer) {
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> finish_connections(Server& server) {
  using namespace asio::experimental::awaitable_operators;
  server.stopping = true;
  server.refusals.cancel();
  server.connections.cancel(asio::cancellation_type::total);
  auto const executor = co_await this_coro::executor;
  asio::steady_timer grace{executor, server.options.grace};
  auto joined = server.connections.join();
  auto patience = wait(grace);
  co_await (std::move(joined) || std::move(patience));
  server.connections.cancel();
  co_await server.connections.join();
  co_await server.refusals.join();
}

}  // namespace

asio::awaitable<void> serve_http(tcp::acceptor acceptor,
                                 Handler handler,
                                 HttpServerOptions options) {
  auto const executor = co_await this_coro::executor;
  Server server{executor, std::move(handler), std::move(options)};
  co_await this_coro::throw_if_cancelled(false);
  co_await accept_connections(std::move(acceptor), server);
  co_await this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await finish_connections(server);
}

}  // namespace torchwatch::net
