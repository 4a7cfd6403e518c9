// The requests by which a GitHub App gets its tokens.

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "github/answer.h"
#include "github/client.h"
#include "storage/base/date.h"
#include "storage/base/number.h"
#include "storage/base/secret.h"

namespace torchwatch::github {
namespace {

using boost::asio::awaitable;
using nlohmann::json;

/// "2026-01-02T03:04:05Z"; nothing for another text.
std::optional<Timestamp> time_in(std::string_view text) {
  constexpr std::size_t length = 20;
  if (text.size() != length || text[10] != 'T' || text[19] != 'Z') return std::nullopt;
  auto const day = day_of(text.substr(0, 10));
  auto const hours = parse_number<unsigned>(text.substr(11, 2));
  auto const minutes = parse_number<unsigned>(text.substr(14, 2));
  auto const seconds = parse_number<unsigned>(text.substr(17, 2));
  if (!day || !hours || !minutes || !seconds) return std::nullopt;
  return Timestamp{*day} + std::chrono::hours{*hours} + std::chrono::minutes{*minutes} +
         std::chrono::seconds{*seconds};
}

std::optional<InstallationToken> token_in(json const& object) {
  auto const word = secret_in(text_at(object, "token"), "token");
  auto const end = time_in(text_at(object, "expires_at"));
  if (!word || !end) return std::nullopt;
  return InstallationToken{word->value, *end};
}

/// "name" of "owner/name".
std::string name_of_repository(std::string const& repository) {
  return repository.substr(repository.find('/') + 1);
}

}  // namespace

awaitable<Result<Installation>> Client::installation(std::int64_t id) {
  auto const url = id == 0 ? repository_url_ + "/installation"
                           : options_.api + "/app/installations/" + std::to_string(id);
  auto const answer = co_await get(url);
  if (!answer && answer.error().code == ErrorCode::not_found)
    co_return within("the App is not installed in " + options_.repository, answer.error());
  if (!answer) co_return answer.error();
  auto const body = object_in(*answer);
  auto const number = body.find("id");
  auto const found = number == body.end() ? std::nullopt : whole_number_in<std::int64_t>(*number);
  if (found.value_or(0) <= 0)
    co_return Error{ErrorCode::unavailable, url + ": GitHub's answer is no installation"};
  Installation installation;
  installation.id = *found;
  installation.slug = text_at(body, "app_slug");
  co_return installation;
}

awaitable<Result<InstallationToken>> Client::installation_token(std::int64_t installation) {
  auto const url =
      options_.api + "/app/installations/" + std::to_string(installation) + "/access_tokens";
  json body;
  body["repositories"] = json::array({name_of_repository(options_.repository)});
  body["permissions"]["issues"] = "write";
  auto const answer = co_await post(url, body);
  if (!answer) co_return answer.error();
  auto const token = token_in(object_in(*answer));
  if (!token) co_return Error{ErrorCode::unavailable, url + ": GitHub's answer is no token"};
  co_return *token;
}

}  // namespace torchwatch::github
