#include <chrono>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/chrono.h>

#include "config/address.h"
#include "daemon/http/http_origin.h"
#include "daemon/http/listener.h"
#include "daemon/service/answering.h"
#include "daemon/service/endpoints.h"
#include "daemon/setup/checks.h"

namespace torchwatch::setup {
namespace asio = boost::asio;

namespace {

/// Tries to listen as the service would; accepts nothing and makes no socket file.
Result<> check_place(config::HttpOptions const& http) {
  auto const path = config::socket_path(http.address);
  if (!path.empty()) return http::check_socket_place(path);
  asio::io_context loop{1};
  auto const listener = http::Listener::at_address(loop.get_executor(), http.address, http.port);
  if (!listener) return listener.error();
  return {};
}

/// Describes the certificate, to follow the address; empty without one.
Result<std::string> certificate_found(config::HttpOptions const& http) {
  auto tls = service::open_tls(http);
  if (!tls) return tls.error();
  if (!*tls) return std::string{};
  auto const end = (*tls)->expires();
  auto const day = fmt::format("{:%Y-%m-%d}", end);
  if (end < std::chrono::system_clock::now())
    return Error{ErrorCode::invalid_argument,
                 "http.tls: " + http.tls.certificate + ": ended on " + day};
  return ", with a certificate until " + day;
}

Result<std::string> address_found(config::HttpOptions const& http) {
  auto const certificate = certificate_found(http);
  if (!certificate) return certificate.error();
  auto const url = service::origin_of(http).url;
  auto const place = check_place(http);
  bool const takes_any_port = http.port == 0 && config::socket_path(http.address).empty();
  if (place && takes_any_port) return http.address + ": a free port will be taken" + *certificate;
  if (place) return url + ": free" + *certificate;
  if (place.error().code != ErrorCode::unavailable) return place.error();
  if (auto const service = running_service(http); !service.empty())
    return "taken by the service itself: " + service + *certificate;
  return Error{ErrorCode::unavailable, url + ": taken by a program that is not torchwatch"};
}

/// Returns ", unhealthy: " and the reasons; empty without any.
std::string illness_in(nlohmann::json const& health) {
  std::string reasons;
  auto const troubles = health.value("troubles", nlohmann::json::array());
  for (auto const& trouble : troubles)
    if (trouble.is_string())
      reasons += (reasons.empty() ? ", unhealthy: " : "; ") + trouble.get<std::string>();
  return reasons;
}

}  // namespace

std::string running_service(config::HttpOptions const& http) {
  constexpr std::chrono::seconds patience{2};
  auto const origin = service::origin_of(http);
  http::HttpRequest const question{"GET", "/healthz", {}, ""};
  auto const answer = http::ask_http(origin, question, patience);
  if (!answer || (answer->status != 200 && answer->status != 503)) return {};
  auto const health = nlohmann::json::parse(answer->body, nullptr, false);
  // Any program may listen there, and reply anything.
  if (!health.is_object() || !health.contains("status")) return {};
  auto const version = health.value("version", nlohmann::json{});
  if (!version.is_string()) return {};
  return "torchwatch " + version.get<std::string>() + " at " + origin.url + illness_in(health);
}

PendingCheck check_http(CheckContext const& context) {
  auto const tokens = service::read_tokens(context.options.http);
  if (!tokens) co_return tokens.error();
  co_return address_found(context.options.http);
}

}  // namespace torchwatch::setup
