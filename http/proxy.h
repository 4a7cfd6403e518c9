#pragma once

#include <string>

namespace torchwatch::http {

/// The proxy variables of the environment, by libcurl's rules.
struct ProxyVariables {
  std::string url;     ///< "http://USER:PASSWORD@HOST:PORT"; empty: none
  std::string except;  ///< no_proxy
};

/// Returns the variables for URLs of `scheme`: SCHEME_proxy or else all_proxy, and no_proxy. Reads
/// names in capitals, too, except HTTP_PROXY.
ProxyVariables proxy_variables(std::string const& scheme);

/// Returns "HOST:PORT" of a proxy, without the password. Adds libcurl's default port if none is
/// given.
std::string address_of_proxy(std::string const& url);

}  // namespace torchwatch::http
