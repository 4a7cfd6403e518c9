#include "daemon/cli/remote.h"

#include <utility>

#include "storage/domain/secret.h"

namespace torchwatch::cli {
namespace {

using nlohmann::ordered_json;

/// The JSON of a good answer; the problem's text otherwise.
Result<ordered_json> body_of(Result<net::HttpResponse> const& answer) {
  if (!answer) return answer.error();
  auto json = ordered_json::parse(answer->body, nullptr, false);
  if (json.is_discarded())
    return Error{ErrorCode::corrupt, "HTTP " + std::to_string(answer->status) + " without JSON"};
  constexpr int bad_request = 400;
  if (answer->status < bad_request)
    return Result<ordered_json>{boost::system::in_place_value, std::move(json)};
  auto text = "HTTP " + std::to_string(answer->status) + ": " + json.value("detail", "");
  for (auto const& error : json.value("errors", ordered_json::array()))
    text += "; " + error.value("field", "") + ": " + error.value("detail", "");
  return Error{ErrorCode::refused, std::move(text)};
}

}  // namespace

Result<Server> Server::at(std::string const& url, std::string const& token_file) {
  auto const origin = net::parse_origin(url);
  if (!origin) return origin.error();
  if (token_file.empty()) return Server{*origin, ""};
  auto token = read_secret(token_file, "token");
  if (!token) return token.error();
  return Server{*origin, std::move(token->value)};
}

Server::Server(net::HttpOrigin origin, std::string token)
    : origin_{std::move(origin)},
      token_{std::move(token)} {}

Result<ordered_json> Server::get(std::string const& path) const {
  net::HttpRequest request{"GET", path, {}, ""};
  if (!token_.empty()) request.headers["authorization"] = "Bearer " + token_;
  return body_of(net::ask_http(origin_, request));
}

Result<ordered_json> Server::post(std::string const& path, ordered_json const& body) const {
  net::HttpRequest const request{
      "POST",
      path,
      {{"authorization", "Bearer " + token_}, {"content-type", "application/json"}},
      body.dump()};
  return body_of(net::ask_http(origin_, request));
}

}  // namespace torchwatch::cli
