#include "daemon/service/endpoints.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "config/address.h"
#include "storage/base/secret.h"

namespace torchwatch::service {

Result<std::optional<http::ServerTls>> open_tls(config::HttpOptions const& http) {
  std::optional<http::ServerTls> tls;
  if (!http.tls.is_on()) return tls;
  auto opened = http::ServerTls::open({http.tls.certificate, http.tls.key});
  if (!opened) return within("http.tls", opened.error());
  tls = std::move(*opened);
  return tls;
}

Result<http::Listener> open_listener(boost::asio::any_io_executor const& executor,
                                     config::HttpOptions const& http) {
  auto const path = config::socket_path(http.address);
  auto listener = path.empty() ? http::Listener::at_address(executor, http.address, http.port)
                               : http::Listener::at_path(executor, path);
  if (!listener) return within("http.address", listener.error());
  return listener;
}

void warn_of_exposed_key(config::HttpOptions const& http) {
  auto const exposure = exposure_of(http.tls.key, "http.tls.key: private key");
  if (!exposure.empty()) spdlog::warn("key_exposed reason=\"{}\"", exposure);
}

http::HttpOrigin origin_of(config::HttpOptions const& http) {
  auto const path = config::socket_path(http.address);
  if (!path.empty()) return {"unix:" + path};
  bool const is_v6 = http.address.find(':') != std::string::npos;
  auto const host = is_v6 ? "[" + http.address + "]" : http.address;
  auto const scheme = http.tls.is_on() ? "https://" : "http://";
  return {scheme + host + ":" + std::to_string(http.port), http.tls.certificate};
}

}  // namespace torchwatch::service
