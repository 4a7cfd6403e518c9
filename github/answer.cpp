#include "github/answer.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "github/markdown.h"
#include "storage/base/number.h"

namespace torchwatch::github {
namespace {

using nlohmann::json;

constexpr std::size_t max_explanation_bytes = 500;
/// The least pause where GitHub names no time.
constexpr std::chrono::seconds unnamed_pause{60};

std::optional<std::int64_t> whole_number(std::string_view text) {
  constexpr std::int64_t far_future =
      1'000'000'000'000;  // beyond it, sums of seconds could overflow
  auto const number = parse_number<std::int64_t>(text);
  if (!number || *number < 0 || *number > far_future) return {};
  return number;
}

bool names_a_limit(Response const& answer) {
  return answer.status == 429 || answer.headers.contains("retry-after") ||
         header_of(answer, "x-ratelimit-remaining") == "0" ||
         text_at(object_in(answer), "message").find("secondary rate limit") != std::string::npos;
}

/// One of `errors[]`: its own message, or the field and the code.
std::string detail_of(json const& error) {
  if (error.is_string()) return error.get<std::string>();
  if (!error.is_object()) return {};
  auto const message = text_at(error, "message");
  return message.empty() ? text_at(error, "field") + " " + text_at(error, "code") : message;
}

/// The address at which an organization with SAML authorizes the token; empty unless required:
/// "required; url=https://github.com/orgs/o/sso?authorization_request=A".
std::string authorization_address(Response const& answer) {
  constexpr std::string_view name = "url=";
  auto const header = header_of(answer, "x-github-sso");
  auto const at = header.find(name);
  if (at == std::string::npos) return {};
  auto const address = std::string_view{header}.substr(at + name.size());
  return std::string{address.substr(0, address.find_first_of(" ,;"))};
}

}  // namespace

AnswerKind kind_of(Response const& answer) {
  switch (answer.status) {
    case 304:
      return AnswerKind::success;  // the answer to a question with If-None-Match
    case 301:
    case 307:
    case 308:
      return AnswerKind::redirect;
    case 403:
    case 429:
      return names_a_limit(answer) ? AnswerKind::rate_limited : AnswerKind::refused;
    case 408:
      return AnswerKind::lost;
    default:
      break;
  }
  if (answer.status >= 500) return AnswerKind::lost;
  return answer.status >= 200 && answer.status < 300 ? AnswerKind::success : AnswerKind::refused;
}

std::chrono::seconds pause_asked_by(Response const& answer, Timestamp now, int earlier) {
  if (auto const seconds = whole_number(header_of(answer, "retry-after")))
    return std::chrono::seconds{*seconds};
  auto const reset = whole_number(header_of(answer, "x-ratelimit-reset"));
  if (reset && header_of(answer, "x-ratelimit-remaining") == "0") {
    auto const left = Timestamp{std::chrono::seconds{*reset}} - now;
    // Both clocks count whole seconds: one more, so as not to come early.
    return std::max(left, std::chrono::seconds{0}) + std::chrono::seconds{1};
  }
  return unnamed_pause * (1 << std::clamp(earlier, 0, 10));
}

std::string next_page(Response const& answer) {
  auto const header = header_of(answer, "link");
  for (std::string_view rest = header; !rest.empty();) {
    auto const open = rest.find('<');
    auto const close = rest.find('>', open);
    if (close == std::string_view::npos) break;
    auto const url = rest.substr(open + 1, close - open - 1);
    // The parameters reach to the next URL; commas separate links.
    auto const parameters = rest.substr(close, rest.find('<', close) - close);
    if (parameters.find("rel=\"next\"") != std::string_view::npos) return std::string{url};
    rest.remove_prefix(close + parameters.size());
  }
  return {};
}

std::string masked(std::string text, std::string const& token) {
  constexpr std::string_view mask = "[token]";
  if (token.empty()) return text;
  for (auto at = text.find(token); at != std::string::npos; at = text.find(token, at + mask.size()))
    text.replace(at, token.size(), mask);
  return text;
}

std::string explanation_of(Response const& answer, std::string const& token) {
  auto text = "HTTP " + std::to_string(answer.status);
  auto const body = object_in(answer);
  if (auto const message = text_at(body, "message"); !message.empty()) text += ": " + message;
  if (auto const address = authorization_address(answer); !address.empty())
    text += ": authorize the token at " + address;
  if (auto const errors = body.find("errors"); errors != body.end() && errors->is_array()) {
    for (auto const& error : *errors)
      text += ": " + detail_of(error);
  }
  // Masked before it is cut: a part of the token would not be recognized.
  return std::string{clip(one_line(masked(std::move(text), token)), max_explanation_bytes)};
}

}  // namespace torchwatch::github
