#include "daemon/net/http_client.h"

#include <future>
#include <regex>
#include <stdexcept>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "daemon/net/server_name.h"
#include "daemon/net/socket.h"

namespace torchwatch::net {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ssl = asio::ssl;

namespace {

using Way = HttpOrigin::Way;
using SecureSocket = ssl::stream<Socket>;

/// As URLs and Host fields have it: IPv6 in brackets.
std::string host_and_port(HttpOrigin const& origin) {
  bool const is_v6 = origin.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + origin.host + "]" : origin.host) + ":" + origin.port;
}

http::request<http::string_body> to_beast(HttpOrigin const& origin, HttpRequest const& request) {
  http::request<http::string_body> message{
      http::string_to_verb(request.method), request.target, 11};
  message.set(http::field::host,
              origin.way == Way::unix_socket ? "localhost" : host_and_port(origin));
  message.set(http::field::user_agent, "torchwatch");
  for (auto const& [name, value] : request.headers)
    message.set(name, value);
  message.body() = request.body;
  message.prepare_payload();
  return message;
}

HttpResponse from_beast(http::response<http::string_body> message) {
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  for (auto const& field : message)
    response.headers[std::string{field.name_string()}] = std::string{field.value()};
  response.body = std::move(message.body());
  return response;
}

asio::awaitable<Socket> connect(HttpOrigin const& origin) {
  auto const executor = co_await asio::this_coro::executor;
  if (origin.way == Way::unix_socket) {
    asio::local::stream_protocol::socket socket{executor};
    asio::local::stream_protocol::endpoint const place{origin.host};
    co_await socket.async_connect(place, asio::use_awaitable);
    co_return Socket{std::move(socket)};
  }
  asio::ip::tcp::resolver resolver{executor};
  auto const places =
      co_await resolver.async_resolve(origin.host, origin.port, asio::use_awaitable);
  asio::ip::tcp::socket socket{executor};
  co_await asio::async_connect(socket, places, asio::use_awaitable);
  co_return Socket{std::move(socket)};
}

template <class Stream>
asio::awaitable<HttpResponse> exchange(Stream& stream,
                                       HttpOrigin const& origin,
                                       HttpRequest const& request) {
  auto const message = to_beast(origin, request);
  co_await http::async_write(stream, message, asio::use_awaitable);
  beast::flat_buffer buffer;
  http::response<http::string_body> answer;
  co_await http::async_read(stream, buffer, answer, asio::use_awaitable);
  co_return from_beast(std::move(answer));
}

ssl::context context_for(HttpOrigin const& origin) {
  ssl::context context{ssl::context::tls_client};
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  context.set_verify_mode(ssl::verify_peer);
  if (origin.certificate.empty()) {
    context.set_default_verify_paths();
    context.set_verify_callback(ssl::host_name_verification{origin.host});
  } else {
    context.load_verify_file(origin.certificate);
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.native_handle()),
                                X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME);
  }
  return context;
}

std::string why_no_handshake(boost::system::error_code const& failed, SSL& connection) {
  auto why = "TLS handshake: " + failed.message();
  auto const verdict = SSL_get_verify_result(&connection);
  if (verdict != X509_V_OK) why.append(": ").append(X509_verify_cert_error_string(verdict));
  return why;
}

asio::awaitable<HttpResponse> exchange_by_tls(Socket socket,
                                              HttpOrigin const& origin,
                                              HttpRequest const& request) {
  auto context = context_for(origin);
  SecureSocket stream{std::move(socket), context};
  announce_server_name(*stream.native_handle(), origin.host);
  try {
    co_await stream.async_handshake(ssl::stream_base::client, asio::use_awaitable);
  } catch (boost::system::system_error const& problem) {
    throw std::runtime_error(why_no_handshake(problem.code(), *stream.native_handle()));
  }
  co_return co_await exchange(stream, origin, request);
}

asio::awaitable<HttpResponse> ask(HttpOrigin origin, HttpRequest request) {
  auto socket = co_await connect(origin);
  if (origin.way == Way::tls)
    co_return co_await exchange_by_tls(std::move(socket), origin, request);
  co_return co_await exchange(socket, origin, request);
}

}  // namespace

Result<HttpOrigin> parse_origin(std::string const& url) {
  static std::regex const on_network{
      R"(http(s?)://([^:/\[\]]+|\[([0-9a-fA-F:.]+)\]):([0-9]{1,5})/?)"};
  static std::regex const on_disk{"unix:(/.*)"};
  std::smatch parts;
  if (std::regex_match(url, parts, on_disk)) return HttpOrigin{Way::unix_socket, parts[1], "", ""};
  if (std::regex_match(url, parts, on_network)) {
    auto const way = parts[1].length() == 0 ? Way::plain : Way::tls;
    return HttpOrigin{way, parts[3].matched ? parts[3] : parts[2], parts[4], ""};
  }
  return Error{ErrorCode::invalid_argument,
               "server: found \"" + url + "\", allowed is http(s)://HOST:PORT or unix:/PATH"};
}

std::string url_of(HttpOrigin const& origin) {
  if (origin.way == Way::unix_socket) return "unix:" + origin.host;
  return (origin.way == Way::tls ? "https://" : "http://") + host_and_port(origin);
}

Result<HttpResponse> ask_http(HttpOrigin const& origin,
                              HttpRequest const& request,
                              std::chrono::seconds limit) {
  asio::io_context loop{1};
  auto answer = asio::co_spawn(loop, ask(origin, request), asio::use_future);
  loop.run_for(limit);
  if (answer.wait_for(std::chrono::seconds{0}) != std::future_status::ready) {
    return Error{ErrorCode::unavailable,
                 url_of(origin) + ": no answer within " + std::to_string(limit.count()) + " s"};
  }
  try {
    return answer.get();
  } catch (boost::system::system_error const& problem) {
    return Error{ErrorCode::unavailable, url_of(origin) + ": " + problem.code().message()};
  } catch (std::runtime_error const& problem) {
    return Error{ErrorCode::unavailable, url_of(origin) + ": " + problem.what()};
  }
}

}  // namespace torchwatch::net
