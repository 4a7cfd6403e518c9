#include "tests/fakes/github/fake_github_server.h"

#include <utility>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

namespace torchwatch::fakes {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = beast::http;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using Stream = ssl::stream<beast::tcp_stream>;
using WireRequest = beast_http::request<beast_http::string_body>;
using WireResponse = beast_http::response<beast_http::string_body>;

std::string url_at(std::uint16_t port) {
  return "https://127.0.0.1:" + std::to_string(port);
}

github::Request plain_request(WireRequest const& wire) {
  github::Request request;
  request.method = std::string{wire.method_string()};
  request.url = std::string{wire.target()};
  for (auto const& field : wire)
    request.headers[boost::to_lower_copy(std::string{field.name_string()})] =
        std::string{field.value()};
  request.body = wire.body();
  return request;
}

WireResponse wire_response(github::Response response, WireRequest const& request) {
  WireResponse wire;
  wire.version(request.version());
  wire.result(static_cast<unsigned int>(response.status));
  for (auto const& [name, value] : response.headers)
    wire.set(name, value);
  wire.keep_alive(request.keep_alive());
  wire.body() = std::move(response.body);
  wire.prepare_payload();
  return wire;
}

/// Answers requests until the client or a fault closes the connection. Throws system_error.
asio::awaitable<void> converse(Stream& stream, FakeGithub& github, std::string const& url) {
  auto& connection = stream.next_layer();
  connection.expires_after(std::chrono::seconds{60});
  co_await stream.async_handshake(ssl::stream_base::server, asio::use_awaitable);
  beast::flat_buffer buffer;
  for (bool open = true; open;) {
    WireRequest request;
    connection.expires_after(std::chrono::seconds{60});
    co_await beast_http::async_read(stream, buffer, request, asio::use_awaitable);
    auto reply = github.handle(plain_request(request), url);
    if (reply.delay.count() > 0) {
      asio::steady_timer timer{stream.get_executor(), reply.delay};
      co_await timer.async_wait(asio::use_awaitable);
    }
    if (reply.drop) co_return;
    auto const response = wire_response(std::move(reply.response), request);
    co_await beast_http::async_write(stream, response, asio::use_awaitable);
    open = response.keep_alive();
  }
}

asio::awaitable<void> serve(tcp::socket socket, ssl::context& context, FakeGithub& github) {
  auto const url = url_at(socket.local_endpoint().port());
  Stream stream{beast::tcp_stream{std::move(socket)}, context};
  co_await converse(stream, github, url);
}

}  // namespace

FakeGithubServer::FakeGithubServer(FakeGithub& github,
                                   ServerIdentity const& identity,
                                   std::uint16_t port)
    : context_{context_of(identity)},
      server_{[this, &github](tcp::socket socket) {
                return serve(std::move(socket), context_, github);
              },
              port},
      url_{url_at(server_.port())} {}

}  // namespace torchwatch::fakes
