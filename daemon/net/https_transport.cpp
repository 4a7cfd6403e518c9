#include "daemon/net/https_transport.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <openssl/evp.h>

#include "daemon/net/server_name.h"
#include "github/url.h"

namespace torchwatch::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;

using Stream = ssl::stream<beast::tcp_stream>;

constexpr std::uint64_t max_body_bytes = std::uint64_t{16} << 20U;
constexpr std::uint32_t max_header_bytes = std::uint32_t{64} << 10U;

std::string bracketed(std::string const& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

http::request<http::string_body> wire_request(github::Request request, github::Url const& url) {
  http::request<http::string_body> wire;
  wire.version(11);
  wire.method_string(request.method);
  wire.target(url.target);
  auto const host = bracketed(url.host);
  wire.set(http::field::host, url.port == "443" ? host : host + ":" + url.port);
  for (auto const& [name, value] : request.headers)
    wire.set(name, value);
  wire.set(http::field::connection, "close");
  wire.body() = std::move(request.body);
  if (!wire.body().empty()) wire.prepare_payload();
  return wire;
}

github::Response plain_response(http::response<http::string_body> wire) {
  github::Response response;
  response.status = static_cast<int>(wire.result_int());
  for (auto const& field : wire) {
    auto& value = response.headers[boost::to_lower_copy(std::string{field.name_string()})];
    if (!value.empty()) value += ", ";
    value.append(field.value());
  }
  response.body = std::move(wire.body());
  return response;
}

std::string base64_of(std::string const& bytes) {
  constexpr std::size_t three = 3;
  constexpr std::size_t four = 4;
  std::vector<unsigned char> text((bytes.size() + 2) / three * four + 1);
  int const length = EVP_EncodeBlock(text.data(),
                                     reinterpret_cast<unsigned char const*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  return {text.begin(), text.begin() + length};
}

/// Where a request goes, and through what.
struct Route {
  github::Url url;
  std::optional<Proxy> proxy;

  std::string name() const {
    auto const host = "https://" + url.host + ":" + url.port;
    return proxy ? host + " by " + proxy->name() : host;
  }
};

http::request<http::empty_body> wire_connect(Route const& route) {
  auto const authority = bracketed(route.url.host) + ":" + route.url.port;
  constexpr unsigned version = 11;
  http::request<http::empty_body> wire{http::verb::connect, authority, version};
  wire.set(http::field::host, authority);
  wire.set(http::field::user_agent, "torchwatch");
  auto const& credentials = route.proxy->credentials;
  if (!credentials.empty())
    wire.set(http::field::proxy_authorization, "Basic " + base64_of(credentials));
  return wire;
}

std::string refusal_in(http::response<http::empty_body> const& answer) {
  if (answer.result() == http::status::proxy_authentication_required)
    return "it wants a user and a password that it knows (407)";
  return "it answers " + std::to_string(answer.result_int());
}

/// From here on whatever is written to the proxy comes to the server. Throws system_error.
asio::awaitable<Result<>> open_tunnel(beast::tcp_stream& connection, Route const& route) {
  auto const request = wire_connect(route);
  co_await http::async_write(connection, request, asio::use_awaitable);
  beast::flat_buffer buffer;
  http::response_parser<http::empty_body> parser;
  parser.header_limit(max_header_bytes);
  parser.skip(true);
  co_await http::async_read_header(connection, buffer, parser, asio::use_awaitable);
  auto const& answer = parser.get();
  if (http::to_status_class(answer.result()) != http::status_class::successful)
    co_return Error{ErrorCode::unavailable, refusal_in(answer)};
  // A server says nothing before it is spoken to.
  if (buffer.size() != 0) co_return Error{ErrorCode::unavailable, "it adds to its answer"};
  co_return Result<>{};
}

/// One request on a connection of its own. `step` always says what is being done. Fails where a
/// proxy refuses, and throws system_error. The referees live in the frame that awaits.
asio::awaitable<Result<github::Response>> exchange(Stream& stream,
                                                   Route const& route,
                                                   http::request<http::string_body> const& request,
                                                   std::string& step,
                                                   std::chrono::seconds timeout) {
  step = "look up";
  asio::ip::tcp::resolver resolver{stream.get_executor()};
  auto const host = route.proxy ? route.proxy->host : route.url.host;
  auto const port = route.proxy ? route.proxy->port : route.url.port;
  auto const endpoints = co_await resolver.async_resolve(host, port, asio::use_awaitable);

  step = "connect";
  auto& connection = stream.next_layer();
  connection.expires_after(timeout);
  co_await connection.async_connect(endpoints, asio::use_awaitable);

  if (route.proxy) {
    step = "ask for a connection";
    auto const tunnel = co_await open_tunnel(connection, route);
    if (!tunnel) co_return tunnel.error();
  }

  step = "TLS handshake";
  announce_server_name(*stream.native_handle(), route.url.host);
  co_await stream.async_handshake(ssl::stream_base::client, asio::use_awaitable);

  step = "send request";
  co_await http::async_write(stream, request, asio::use_awaitable);

  step = "read answer";
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(max_body_bytes);
  parser.header_limit(max_header_bytes);
  co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
  co_return plain_response(parser.release());
}

Error error_of(boost::system::error_code const& failure, std::string const& where) {
  if (failure == asio::error::operation_aborted)
    return {ErrorCode::cancelled, where + ": cancelled"};
  return {ErrorCode::unavailable, where + ": " + failure.message()};
}

}  // namespace

Result<HttpsTransport> HttpsTransport::open(HttpsOptions options) {
  ssl::context context{ssl::context::tls_client};
  boost::system::error_code failure;
  if (SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION) != 1)
    return Error{ErrorCode::internal, "OpenSSL: cannot ask for TLS 1.2"};
  context.set_verify_mode(ssl::verify_peer);
  if (options.ca_file.empty()) {
    context.set_default_verify_paths(failure);
  } else {
    context.load_verify_file(options.ca_file, failure);
  }
  if (failure) {
    auto const source = options.ca_file.empty() ? "the system" : options.ca_file;
    return Error{ErrorCode::invalid_argument,
                 "certificates of " + source + ": " + failure.message()};
  }
  return HttpsTransport{std::move(context), std::move(options)};
}

HttpsTransport::HttpsTransport(ssl::context context, HttpsOptions options)
    : context_{std::move(context)},
      options_{std::move(options)} {}

asio::awaitable<Result<github::Response>> HttpsTransport::send(github::Request request) {
  auto const url = github::parse_url(request.url);
  if (!url) co_return url.error();
  auto const proxy = proxy_for(options_.proxy, url->host, url->port);
  if (!proxy) co_return proxy.error();
  Route const route{*url, *proxy};
  auto const executor = co_await asio::this_coro::executor;
  std::string step;
  boost::system::error_code failure;
  try {
    Stream stream{beast::tcp_stream{executor}, context_};
    stream.set_verify_callback(ssl::host_name_verification{url->host});
    auto const wire = wire_request(std::move(request), *url);
    auto answer = co_await exchange(stream, route, wire, step, options_.timeout);
    if (answer) co_return std::move(*answer);
    co_return within(route.name() + ": " + step, answer.error());
  } catch (boost::system::system_error const& problem) {
    failure = problem.code();
  }
  co_return error_of(failure, route.name() + ": " + step);
}

}  // namespace torchwatch::net
