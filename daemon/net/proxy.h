#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "storage/domain/result.h"

/// The way to hosts elsewhere, where it leads through an HTTP proxy. The variables that curl, git
/// and other programs go by are the one place where it stands: what is configured goes there, so
/// that children have it too.
namespace torchwatch::net {

/// What the variables say, unread.
struct ProxyRules {
  std::string url;     ///< https_proxy, or all_proxy; empty: no proxy
  std::string except;  ///< no_proxy
};

/// One that connects to any host (RFC 9110, 9.3.6).
struct Proxy {
  std::string host;
  std::string port;
  std::string credentials;  ///< "USER:PASSWORD"; empty: none

  /// "proxy HOST:PORT", for errors: without the password.
  std::string name() const;
};

/// Makes what is configured, if anything, the proxy of this process and its children. Changes
/// variables, so there may be no threads yet.
void use_proxy(config::ProxyOptions const& options);

/// What https_proxy or else all_proxy, and no_proxy, say to this process; in capitals, too.
ProxyRules proxy_rules();

/// By which proxy `host` (lower case, no brackets) is asked at `port`; nothing: directly. Read as
/// curl does: exceptions are separated by commas or blanks; a name, with or without a dot before
/// it, stands for itself and all below it, an address for itself, ADDRESS/BITS for a network, "*"
/// for everything. An exception with a port is one at that port. Fails with invalid_argument,
/// without the password, when the proxy is none of "[http://][USER:PASSWORD@]HOST[:PORT]".
Result<std::optional<Proxy>> proxy_for(ProxyRules const& rules,
                                       std::string const& host,
                                       std::string const& port);

/// Whether somebody listens there: connects, and says nothing. Fails with unavailable, naming the
/// proxy, also when nobody answers within `patience`, which the look-up of its name does not count
/// towards. Throws system_error when it is cancelled.
boost::asio::awaitable<Result<>> knock_at(Proxy proxy, std::chrono::seconds patience);

}  // namespace torchwatch::net
