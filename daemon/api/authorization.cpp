#include "daemon/api/authorization.h"

#include <algorithm>
#include <chrono>

#include <openssl/crypto.h>
#include <spdlog/spdlog.h>
#include <strings.h>

#include "daemon/http/host.h"

namespace torchwatch::api {
namespace {

using http::HttpRequest;
using http::HttpResponse;
using http::problem;

bool is_same_word(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

/// Compares in a time that does not depend on the position of the first difference.
bool is_same_secret(std::string const& one, std::string const& other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

/// Returns 403 if the service has no token, and 401 if the request has none or a wrong one.
std::optional<HttpResponse> check_token(HttpRequest const& request, std::string const& token) {
  constexpr std::string_view scheme = "Bearer ";
  if (token.empty())
    return problem(403,
                   "the service has no token, so it refuses requests that change anything; set "
                   "http.token_file to allow them");
  auto const given = header_of(request, "authorization");
  bool const is_bearer = is_same_word(std::string_view{given}.substr(0, scheme.size()), scheme);
  if (is_bearer && is_same_secret(given.substr(scheme.size()), token)) return std::nullopt;
  auto response = problem(unauthorized,
                          is_bearer ? "Authorization: found a wrong token, allowed the one of the "
                                      "service (http.token_file or, to read, http.read_token_file)"
                                    : "Authorization: found no token, allowed \"Bearer TOKEN\"");
  response.headers["www-authenticate"] = is_bearer
                                             ? R"(Bearer realm="torchwatch", error="invalid_token")"
                                             : R"(Bearer realm="torchwatch")";
  return response;
}

/// True if a content type is JSON. Ignores parameters such as charset.
bool is_json(std::string_view content_type) {
  auto const end = std::min(content_type.find_first_of("; \t"), content_type.size());
  return is_same_word(content_type.substr(0, end), "application/json");
}

}  // namespace

std::string header_of(HttpRequest const& request, char const* name) {
  auto const at = request.headers.find(name);
  return at == request.headers.end() ? std::string{} : at->second;
}

std::optional<HttpResponse> Authorization::check_host(HttpRequest const& head) const {
  auto const host = header_of(head, "host");
  if (!options_.checks_host || host.empty() || http::is_host_ours(host, options_.hosts))
    return std::nullopt;
  return problem(421,
                 "Host: found \"" + host.substr(0, 100) +
                     "\", allowed this machine's name and addresses, and the names in http.hosts");
}

std::optional<HttpResponse> Authorization::check_write(HttpRequest const& head) const {
  if (auto denied = check_token(head, options_.token)) return denied;
  auto const type = header_of(head, "content-type");
  if (is_json(type)) return std::nullopt;
  return problem(415, "Content-Type: found \"" + type + "\", allowed application/json");
}

std::optional<HttpResponse> Authorization::check_read(HttpRequest const& head) const {
  if (options_.read_token.empty()) return std::nullopt;
  if (!options_.token.empty() && !check_token(head, options_.token)) return std::nullopt;
  return check_token(head, options_.read_token);
}

void Authorization::note_refused_token(std::string_view path) {
  constexpr std::chrono::seconds pause{10};
  ++refused_since_;
  // The difference is absolute, so that a clock that is set back does not suppress lines.
  if (std::chrono::abs(clock_.now() - last_noted_) < pause) return;
  spdlog::warn("token_refused path={} times={}", path, refused_since_);
  last_noted_ = clock_.now();
  refused_since_ = 0;
}

}  // namespace torchwatch::api
