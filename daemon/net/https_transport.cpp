#include "daemon/net/https_transport.h"

#include <string_view>
#include <utility>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

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

http::request<http::string_body> wire_request(github::Request request, github::Url const& url) {
  http::request<http::string_body> wire;
  wire.version(11);
  wire.method_string(request.method);
  wire.target(url.target);
  auto const host = url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
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

/// One request on a connection of its own. `step` always says what is being done. Throws
/// system_error. The referees live in the frame that awaits.
asio::awaitable<github::Response> exchange(Stream& stream,
                                           github::Url const& url,
                                           http::request<http::string_body> const& request,
                                           std::string& step,
                                           std::chrono::seconds timeout) {
  step = "look up";
  asio::ip::tcp::resolver resolver{stream.get_executor()};
  auto const endpoints = co_await resolver.async_resolve(url.host, url.port, asio::use_awaitable);

  step = "connect";
  auto& connection = stream.next_layer();
  connection.expires_after(timeout);
  co_await connection.async_connect(endpoints, asio::use_awaitable);

  step = "TLS handshake";
  announce_server_name(*stream.native_handle(), url.host);
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
  return HttpsTransport{std::move(context), options.timeout};
}

HttpsTransport::HttpsTransport(ssl::context context, std::chrono::seconds timeout)
    : context_{std::move(context)},
      timeout_{timeout} {}

asio::awaitable<Result<github::Response>> HttpsTransport::send(github::Request request) {
  auto const url = github::parse_url(request.url);
  if (!url) co_return url.error();
  auto const executor = co_await asio::this_coro::executor;
  std::string step;
  boost::system::error_code failure;
  try {
    Stream stream{beast::tcp_stream{executor}, context_};
    stream.set_verify_callback(ssl::host_name_verification{url->host});
    auto const wire = wire_request(std::move(request), *url);
    co_return co_await exchange(stream, *url, wire, step, timeout_);
  } catch (boost::system::system_error const& problem) {
    failure = problem.code();
  }
  co_return error_of(failure, "https://" + url->host + ":" + url->port + ": " + step);
}

}  // namespace torchwatch::net
