#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "daemon/net/proxy.h"
#include "daemon/setup/look.h"

namespace torchwatch::setup {
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

/// Throws system_error when nobody listens, or in time.
asio::awaitable<void> knock_at(net::Proxy proxy, asio::any_io_executor executor) {
  tcp::resolver resolver{executor};
  auto const endpoints =
      co_await resolver.async_resolve(proxy.host, proxy.port, asio::use_awaitable);
  tcp::socket socket{executor};
  constexpr std::chrono::seconds patience{5};
  asio::steady_timer limit{executor, patience};
  limit.async_wait([&socket](boost::system::error_code const& is_over) {
    boost::system::error_code ignored;
    if (!is_over) socket.close(ignored);
  });
  co_await asio::async_connect(socket, endpoints, asio::use_awaitable);
}

}  // namespace

Look look_at_proxy(Site const& site) {
  auto const rules = net::proxy_rules();
  if (rules.url.empty())
    co_return std::string{
        "none: hosts are asked directly, as neither proxy.url nor https_proxy says"};
  net::ProxyRules const without_exceptions{rules.url, ""};
  auto const proxy = net::proxy_for(without_exceptions, "", "");
  if (!proxy) co_return proxy.error();
  auto const name = (*proxy)->name();
  try {
    co_await knock_at(**proxy, site.executor);
  } catch (boost::system::system_error const& problem) {
    co_return Error{ErrorCode::unavailable, name + ": " + problem.code().message()};
  }
  co_return name + ": listens" +
      (rules.except.empty() ? "" : "; asked directly are " + rules.except);
}

}  // namespace torchwatch::setup
