#include <chrono>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <nlohmann/json.hpp>

#include "daemon/net/http_client.h"
#include "daemon/setup/look.h"
#include "daemon/setup/running_service.h"

namespace torchwatch::setup {
namespace asio = boost::asio;

namespace {

/// As the service would listen; nothing is accepted.
boost::system::error_code problem_of_listening(config::HttpOptions const& http) {
  asio::io_context loop{1};
  asio::ip::tcp::endpoint const place{asio::ip::make_address(http.address), http.port};
  asio::ip::tcp::acceptor acceptor{loop};
  boost::system::error_code problem;
  acceptor.open(place.protocol(), problem);
  if (!problem) acceptor.set_option(asio::socket_base::reuse_address{true}, problem);
  if (!problem) acceptor.bind(place, problem);
  if (!problem) acceptor.listen(1, problem);
  return problem;
}

Result<std::string> address_found(config::HttpOptions const& http) {
  auto const problem = problem_of_listening(http);
  if (!problem && http.port == 0) return http.address + ": a free port will be taken";
  if (!problem) return url_of(http) + ": free";
  if (auto service = running_service(http); !service.empty())
    return "taken by the service itself: " + service;
  auto const why = problem == boost::system::errc::address_in_use
                       ? "taken by something that is no torchwatch"
                       : problem.message();
  return Error{ErrorCode::unavailable, url_of(http) + ": " + why};
}

}  // namespace

std::string url_of(config::HttpOptions const& http) {
  bool const is_v6 = http.address.find(':') != std::string::npos;
  return "http://" + (is_v6 ? "[" + http.address + "]" : http.address) + ":" +
         std::to_string(http.port);
}

std::string running_service(config::HttpOptions const& http) {
  constexpr std::chrono::seconds patience{2};
  net::HttpOrigin const origin{http.address, std::to_string(http.port)};
  net::HttpRequest const question{"GET", "/healthz", {}, ""};
  auto const answer = net::ask_http(origin, question, patience);
  if (!answer || answer->status != 200) return {};
  auto const health = nlohmann::json::parse(answer->body, nullptr, false);
  if (!health.is_object() || health.value("status", "") != "ok" || !health.contains("version"))
    return {};
  return "torchwatch " + health.at("version").get<std::string>() + " at " + url_of(http);
}

Look look_at_http(Site const& site) {
  co_return address_found(site.options.http);
}

}  // namespace torchwatch::setup
