#include "tests/fakes/proxy/connect_proxy.h"

#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace torchwatch::fakes {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = beast::http;
using asio::ip::tcp;
using SharedSocket = std::shared_ptr<tcp::socket>;

void rethrow(std::exception_ptr const& failure) {
  if (failure) std::rethrow_exception(failure);
}

/// Copies bytes until either side closes its connection.
asio::awaitable<void> relay(SharedSocket from, SharedSocket to) {
  std::array<char, 16384> piece{};
  boost::system::error_code ended;
  try {
    while (true) {
      auto const space = asio::buffer(piece);
      auto const size = co_await from->async_read_some(space, asio::use_awaitable);
      auto const bytes = asio::buffer(piece, size);
      co_await asio::async_write(*to, bytes, asio::use_awaitable);
    }
  } catch (boost::system::system_error const&) {
    to->shutdown(tcp::socket::shutdown_send, ended);
  }
}

unsigned status_for(ProxyRequest const& request, bool is_connect, ProxyManners const& manners) {
  if (!manners.authorization.empty() && request.authorization != manners.authorization) return 407;
  if (manners.status != 0) return static_cast<unsigned>(manners.status);
  return is_connect ? 200 : 405;
}

asio::awaitable<void> converse(SharedSocket client, ConnectProxy& proxy) {
  beast::flat_buffer buffer;
  beast_http::request<beast_http::empty_body> wire;
  co_await beast_http::async_read(*client, buffer, wire, asio::use_awaitable);
  ProxyRequest const request{std::string{wire.target()},
                             std::string{wire[beast_http::field::proxy_authorization]}};
  proxy.note(request);
  auto const executor = client->get_executor();
  if (proxy.manners().is_silent) {
    asio::steady_timer timer{executor, std::chrono::minutes{1}};
    co_await timer.async_wait(asio::use_awaitable);
    co_return;
  }
  beast_http::response<beast_http::empty_body> answer;
  answer.result(status_for(request, wire.method() == beast_http::verb::connect, proxy.manners()));
  auto const server = std::make_shared<tcp::socket>(executor);
  if (answer.result() == beast_http::status::ok) {
    auto const colon = request.target.rfind(':');
    tcp::resolver resolver{executor};
    auto const endpoints = co_await resolver.async_resolve(
        request.target.substr(0, colon), request.target.substr(colon + 1), asio::use_awaitable);
    co_await asio::async_connect(*server, endpoints, asio::use_awaitable);
  }
  co_await beast_http::async_write(*client, answer, asio::use_awaitable);
  if (answer.result() != beast_http::status::ok) co_return;
  asio::co_spawn(executor, relay(client, server), rethrow);
  asio::co_spawn(executor, relay(server, client), rethrow);
}

}  // namespace

ConnectProxy::ConnectProxy(ProxyManners manners)
    : manners_{std::move(manners)},
      server_{[this](tcp::socket socket) {
        return converse(std::make_shared<tcp::socket>(std::move(socket)), *this);
      }},
      address_{"127.0.0.1:" + std::to_string(server_.port())} {}

std::vector<ProxyRequest> ConnectProxy::requests() const {
  std::scoped_lock const lock{mutex_};
  return requests_;
}

void ConnectProxy::note(ProxyRequest request) {
  std::scoped_lock const lock{mutex_};
  requests_.push_back(std::move(request));
}

}  // namespace torchwatch::fakes
