#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>

#include "github/transport.h"
#include "storage/base/clock.h"

/// The interpretation of responses of GitHub's REST API. Pure.
namespace torchwatch::github {

enum class AnswerKind {
  success,
  redirect,      ///< the same request, elsewhere
  rate_limited,  ///< nothing was done; repeat it later
  lost,          ///< a server failed: the request may or may not have taken effect
  refused,       ///< repeating it cannot help
};

AnswerKind kind_of(Response const& answer);

/// The time that GitHub wants us to wait before the next request. `earlier`: the limits that the
/// same request met before. If GitHub names no time, the pause doubles with each.
std::chrono::seconds pause_asked_by(Response const& answer, Timestamp now, int earlier);

/// The URL of the next page from the `Link` header, as it is; empty on the last page.
std::string next_page(Response const& answer);

/// `text` with "[token]" in place of each `token`; unchanged when `token` is empty.
std::string masked(std::string text, std::string const& token);

/// The response in words, on one line: "HTTP 422: Validation Failed: body is too long (maximum is
/// ...)". Names the address at which an organization authorizes the token, if GitHub requires that.
/// Shows `token` masked.
std::string explanation_of(Response const& answer, std::string const& token = {});

/// The JSON object in an answer's body; an empty one when there is none.
inline nlohmann::json object_in(Response const& answer) {
  auto body = nlohmann::json::parse(answer.body, nullptr, false);
  return body.is_object() ? body : nlohmann::json::object();
}

/// The text at `key`; empty when there is none.
inline std::string text_at(nlohmann::json const& object, char const* key) {
  auto const found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

}  // namespace torchwatch::github
