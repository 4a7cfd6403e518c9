#include "tests/fakes/loopback/loopback_server.h"

#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace torchwatch::fakes {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

asio::awaitable<void> serve(LoopbackServer::Session const& session, tcp::socket socket) {
  try {
    auto served = session(std::move(socket));
    co_await std::move(served);
  } catch (boost::system::system_error const&) {
    // The client closed the connection, or does not trust the server.
  }
}

void rethrow(std::exception_ptr const& failure) {
  if (failure) std::rethrow_exception(failure);
}

asio::awaitable<void> listen(tcp::acceptor acceptor, LoopbackServer::Session const& session) {
  auto const executor = acceptor.get_executor();
  for (;;) {
    auto socket = co_await acceptor.async_accept(asio::use_awaitable);
    auto served = serve(session, std::move(socket));
    asio::co_spawn(executor, std::move(served), rethrow);
  }
}

}  // namespace

LoopbackServer::LoopbackServer(Session session, std::uint16_t port) : session_{std::move(session)} {
  tcp::acceptor acceptor{loop_, tcp::endpoint{asio::ip::address_v4::loopback(), port}};
  port_ = acceptor.local_endpoint().port();
  asio::co_spawn(loop_, listen(std::move(acceptor), session_), rethrow);
  thread_ = std::thread{[this] {
    loop_.run();
  }};
}

LoopbackServer::~LoopbackServer() {
  loop_.stop();
  thread_.join();
}

}  // namespace torchwatch::fakes
