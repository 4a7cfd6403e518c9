#include "tests/e2e/service.h"

#include <fstream>
#include <regex>
#include <stdexcept>

#include "tests/e2e/eventually.h"

namespace torchwatch::e2e {

using nlohmann::json;

namespace {

constexpr auto service_token = "token-of-a-service";

}  // namespace

Service::Service(World& world) : world_{world}, process_{start()}, url_{listening_at()} {
  if (!answers(url_, "/healthz"))
    throw std::runtime_error("/healthz does not answer: " + process_.err());
}

Process Service::start() {
  std::ofstream{token_file()} << service_token << '\n';
  std::filesystem::permissions(
      token_file(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  world_.configure({{"http", {{"token_file", token_file()}}}});
  return world_.start({"serve"});
}

std::string Service::listening_at() const {
  std::string url;
  eventually([&] { return !(url = listening_url(process_.err())).empty(); });
  if (url.empty()) throw std::runtime_error("serve does not listen: " + process_.err());
  return url;
}

std::string Service::token_file() const {
  return (world_.directory() / "service-token").string();
}

json Service::get(std::string const& target) const {
  auto const origin = http::parse_origin(url_).value();
  auto const answer = http::ask_http(origin, {"GET", target, {}, ""}).value();
  if (answer.status != 200) throw std::runtime_error(target + ": " + answer.body);
  return json::parse(answer.body);
}

http::HttpResponse Service::post(std::string const& target, json const& body) const {
  auto const origin = http::parse_origin(url_).value();
  http::HttpRequest const request{"POST",
                                  target,
                                  {{"authorization", std::string{"Bearer "} + service_token},
                                   {"content-type", "application/json"}},
                                  body.dump()};
  return http::ask_http(origin, request).value();
}

std::string listening_url(std::string const& log) {
  static std::regex const form{"http_listening url=(\\S+)\n"};
  std::smatch found;
  return std::regex_search(log, found, form) ? found[1].str() : "";
}

bool answers(std::string const& url, std::string const& target) {
  auto const origin = http::parse_origin(url).value();
  auto const answer = http::ask_http(origin, {"GET", target, {}, ""});
  return answer && answer->status == 200;
}

}  // namespace torchwatch::e2e
