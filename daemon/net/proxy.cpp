#include "daemon/net/proxy.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <regex>
#include <string_view>
#include <vector>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>

namespace torchwatch::net {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace ip = asio::ip;

namespace {

/// Of the first variable that is there and not empty.
std::string variable(std::initializer_list<char const*> names) {
  for (auto const* const name : names) {
    auto const* const value = std::getenv(name);  // nobody sets any while there are threads
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

/// The bytes that %XX stand for.
std::string decoded(std::string const& text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto const digits = text.substr(at + 1, 2);
    bool const is_escape =
        text[at] == '%' && digits.size() == 2 &&
        std::ranges::all_of(digits, [](unsigned char c) { return std::isxdigit(c) != 0; });
    bytes += is_escape ? static_cast<char>(std::stoi(digits, nullptr, 16)) : text[at];
    if (is_escape) at += 2;
  }
  return bytes;
}

/// Whether `address` is in `network`, "10.0.0.0/8".
template <class Network>
bool is_in(Network const& network, Network const& address) {
  return network.canonical() == address.canonical();
}

bool is_in_network(std::string const& host, std::string const& network) {
  boost::system::error_code is_none;
  auto const address = ip::make_address(host, is_none);
  if (is_none || network.find('/') == std::string::npos) return false;
  if (address.is_v4()) {
    auto const all = ip::make_network_v4(network, is_none);
    return !is_none && is_in(all, ip::network_v4{address.to_v4(), all.prefix_length()});
  }
  auto const all = ip::make_network_v6(network, is_none);
  return !is_none && is_in(all, ip::network_v6{address.to_v6(), all.prefix_length()});
}

bool is_address(std::string const& text) {
  boost::system::error_code is_none;
  ip::make_address(text, is_none);
  return !is_none;
}

bool is_below(std::string_view host, std::string_view domain) {
  return host == domain || (host.size() > domain.size() && host.ends_with(domain) &&
                            host[host.size() - domain.size() - 1] == '.');
}

/// One entry of no_proxy, in lower case.
struct Exception {
  std::string host;
  std::string port;  ///< empty: any
};

/// "[::1]:80", "::1", "host:80", ".host".
Exception exception_in(std::string text) {
  Exception exception;
  auto const colon = text.rfind(':');
  auto const bracket = text.rfind(']');
  bool const is_bare_v6 = bracket == std::string::npos && text.find(':') != colon;
  bool const has_port = colon != std::string::npos && !is_bare_v6 &&
                        (bracket == std::string::npos || bracket < colon);
  if (has_port) {
    exception.port = text.substr(colon + 1);
    text.erase(colon);
  }
  std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
  if (text.starts_with('.')) text.erase(0, 1);
  if (text.ends_with('.')) text.pop_back();
  exception.host = std::move(text);
  return exception;
}

bool is_excepted(std::string const& exceptions, std::string const& host, std::string const& port) {
  std::vector<std::string> entries;
  auto const lower = boost::to_lower_copy(exceptions);
  boost::split(entries, lower, boost::is_any_of(", \t"), boost::token_compress_on);
  return std::ranges::any_of(entries, [&](std::string const& entry) {
    if (entry == "*") return true;
    auto const exception = exception_in(entry);
    if (exception.host.empty() || (!exception.port.empty() && exception.port != port)) return false;
    if (is_address(host)) return exception.host == host || is_in_network(host, exception.host);
    return is_below(host, exception.host);
  });
}

Result<Proxy> read_proxy(std::string const& text) {
  static std::regex const form{
      R"((?:http://)?(?:([^/@]*)@)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?/?)",
      std::regex::icase};
  auto const shown = text.substr(text.rfind('@') + 1);  // without the password
  std::smatch parts;
  constexpr std::size_t longest = 1000;
  if (text.size() > longest || !std::regex_match(text, parts, form))
    return Error{ErrorCode::invalid_argument,
                 "proxy (https_proxy, all_proxy): found \"" + shown +
                     "\", allowed is [http://][USER:PASSWORD@]HOST[:PORT]"};
  Proxy proxy;
  proxy.credentials = decoded(parts[1]);
  proxy.host = parts[2];
  std::erase_if(proxy.host, [](char c) { return c == '[' || c == ']'; });
  constexpr auto usual_port = "1080";  // curl's
  proxy.port = parts[3].matched ? parts[3].str() : usual_port;
  return proxy;
}

}  // namespace

std::string Proxy::name() const {
  bool const is_v6 = host.find(':') != std::string::npos;
  return "proxy " + (is_v6 ? "[" + host + "]" : host) + ":" + port;
}

void use_proxy(config::ProxyOptions const& options) {
  if (options.url.empty()) return;
  for (auto const* const name : {"http_proxy", "https_proxy", "all_proxy"})
    ::setenv(name, options.url.c_str(), 1);
  ::setenv("no_proxy", boost::join(options.except, ",").c_str(), 1);
  for (auto const* const name : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"})
    ::unsetenv(name);
}

ProxyRules proxy_rules() {
  return {variable({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}),
          variable({"no_proxy", "NO_PROXY"})};
}

Result<std::optional<Proxy>> proxy_for(ProxyRules const& rules,
                                       std::string const& host,
                                       std::string const& port) {
  if (rules.url.empty() || is_excepted(rules.except, host, port)) return std::nullopt;
  auto proxy = read_proxy(rules.url);
  if (!proxy) return proxy.error();
  return std::move(*proxy);
}

asio::awaitable<Result<>> knock_at(Proxy proxy, std::chrono::seconds patience) {
  try {
    ip::tcp::resolver resolver{co_await asio::this_coro::executor};
    auto const endpoints =
        co_await resolver.async_resolve(proxy.host, proxy.port, asio::use_awaitable);
    beast::tcp_stream stream{resolver.get_executor()};
    stream.expires_after(patience);
    co_await stream.async_connect(endpoints, asio::use_awaitable);
  } catch (boost::system::system_error const& problem) {
    if (problem.code() == asio::error::operation_aborted) throw;
    co_return Error{ErrorCode::unavailable, proxy.name() + ": " + problem.code().message()};
  }
  co_return Result<>{};
}

}  // namespace torchwatch::net
