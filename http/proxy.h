#pragma once

#include <string>

namespace torchwatch::http {

/// The proxy that the environment names, as libcurl reads it.
struct ProxyVariables {
  std::string url;     ///< "http://USER:PASSWORD@HOST:PORT"; empty: none
  std::string except;  ///< no_proxy
};

/// For URLs of `scheme`: SCHEME_proxy or else all_proxy, and no_proxy; in capitals, too, except
/// HTTP_PROXY.
ProxyVariables proxy_variables(std::string const& scheme);

/// "HOST:PORT" of a proxy: without the password, and with libcurl's default port.
std::string address_of_proxy(std::string const& url);

}  // namespace torchwatch::http
