#include "daemon/cli/remote.h"

#include <utility>

#include "storage/base/secret.h"

namespace torchwatch::cli {
using nlohmann::ordered_json;

Result<std::string> body_of(http::HttpResponse const& answer) {
  constexpr int bad_request = 400;
  if (answer.status < bad_request) return answer.text();
  auto const json = ordered_json::parse(answer.text(), nullptr, false);
  auto text = "HTTP " + std::to_string(answer.status);
  if (!json.is_object())
    return Error{ErrorCode::corrupt,
                 text + ", and a body that is not JSON: not a torchwatch service?"};
  text += ": " + json.value("detail", "");
  for (auto const& error : json.value("errors", ordered_json::array()))
    text += "; " + error.value("field", "") + ": " + error.value("detail", "");
  return Error{ErrorCode::refused, std::move(text)};
}

Result<ordered_json> parsed(Result<std::string> const& text) {
  if (!text) return text.error();
  auto json = ordered_json::parse(*text, nullptr, false);
  if (json.is_discarded())
    return Error{ErrorCode::corrupt, "the reply is not JSON: not a torchwatch service?"};
  return Result<ordered_json>{boost::system::in_place_value, std::move(json)};
}

Result<Server> Server::at(std::string const& url, std::string const& token_file) {
  auto const origin = http::parse_origin(url);
  if (!origin) return origin.error();
  if (token_file.empty()) return Server{*origin, ""};
  auto token = read_bearer_token(token_file, "token");
  if (!token) return token.error();
  return Server{*origin, std::move(token->value)};
}

Server::Server(http::HttpOrigin origin, std::string token)
    : origin_{std::move(origin)},
      token_{std::move(token)} {}

Result<ordered_json> Server::get(std::string const& path) const {
  return parsed(get_text(path));
}

Result<std::string> Server::get_text(std::string const& path) const {
  http::HttpRequest request{"GET", path, {}, ""};
  if (!token_.empty()) request.headers["authorization"] = "Bearer " + token_;
  auto const answer = http::ask_http(origin_, request);
  if (!answer) return answer.error();
  return body_of(*answer);
}

Result<ordered_json> Server::post(std::string const& path, ordered_json const& body) const {
  http::HttpRequest const request{
      "POST",
      path,
      {{"authorization", "Bearer " + token_}, {"content-type", "application/json"}},
      body.dump()};
  auto const answer = http::ask_http(origin_, request);
  if (!answer) return answer.error();
  return parsed(body_of(*answer));
}

}  // namespace torchwatch::cli
