#include "tests/fakes/github/app_login.h"

#include <cstdint>
#include <ctime>
#include <memory>
#include <string_view>

#include <fmt/chrono.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

namespace torchwatch::fakes {
namespace {

using github::Request;
using github::Response;
using nlohmann::json;

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct FreeVerifier {
  void operator()(BIO* object) const { BIO_free(object); }

  void operator()(EVP_PKEY* object) const { EVP_PKEY_free(object); }

  void operator()(EVP_MD_CTX* object) const { EVP_MD_CTX_free(object); }
};

/// Returns the bytes of URL-safe base64 without padding; nothing for other text.
std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (char const c : text) {
    auto const digit = alphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
  }
  return bytes;
}

bool is_signed(std::string_view text, std::string const& signature, std::string const& public_key) {
  std::unique_ptr<BIO, FreeVerifier> const pem{
      BIO_new_mem_buf(public_key.data(), static_cast<int>(public_key.size()))};
  std::unique_ptr<EVP_PKEY, FreeVerifier> const key{
      PEM_read_bio_PUBKEY(pem.get(), nullptr, nullptr, nullptr)};
  std::unique_ptr<EVP_MD_CTX, FreeVerifier> const context{EVP_MD_CTX_new()};
  return key && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(),
                          reinterpret_cast<unsigned char const*>(signature.data()),
                          signature.size(),
                          reinterpret_cast<unsigned char const*>(text.data()),
                          text.size()) == 1;
}

/// Returns the JSON object in a part of a JSON Web Token; an empty one when there is none.
json part_of(std::string_view text) {
  auto const bytes = from_base64url(text);
  auto object = json::parse(bytes.value_or(""), nullptr, false);
  return object.is_object() ? object : json::object();
}

/// Returns the claims of a JSON Web Token that one of the App's keys signed; nothing for another.
std::optional<json> claims_of(json const& app, std::string_view jwt) {
  auto const first = jwt.find('.');
  auto const second = jwt.rfind('.');
  if (first == std::string_view::npos || first == second) return std::nullopt;
  auto const signature = from_base64url(jwt.substr(second + 1));
  auto const claims = part_of(jwt.substr(first + 1, second - first - 1));
  if (!signature || part_of(jwt.substr(0, first)).value("alg", "") != "RS256") return std::nullopt;
  for (auto const& key : app.at("public_keys"))
    if (is_signed(jwt.substr(0, second), *signature, key.get<std::string>())) return claims;
  return std::nullopt;
}

/// Returns the error of claims, in the words of GitHub.
std::optional<Response> claim_error(json const& app, json const& claims, std::int64_t now) {
  constexpr std::int64_t longest = 600;
  auto const number = [&](char const* name) {
    auto const found = claims.find(name);
    bool const is_whole = found != claims.end() && found->is_number_integer();
    return is_whole ? std::optional{found->get<std::int64_t>()} : std::nullopt;
  };
  auto const begin = number("iat");
  auto const end = number("exp");
  if (!begin || *begin > now)
    return problem(401,
                   "'Issued at' claim ('iat') must be an Integer representing the time that the "
                   "assertion was issued");
  if (!end || *end <= now)
    return problem(401,
                   "'Expiration time' claim ('exp') must be a numeric value representing the "
                   "future time at which the assertion expires");
  if (*end > now + longest)
    return problem(401, "'Expiration time' claim ('exp') is too far in the future");
  if (claims.value("iss", json()) != app.at("client_id"))
    return problem(404, "Integration not found");
  return std::nullopt;
}

std::optional<Response> jwt_error(json const& state, Request const& request) {
  constexpr std::string_view scheme = "Bearer ";
  auto const header = request.headers.find("authorization");
  auto const& app = state.at("settings").at("app");
  if (header == request.headers.end() || !header->second.starts_with(scheme) || app.is_null())
    return problem(401, "A JSON web token could not be decoded");
  auto const claims = claims_of(app, std::string_view{header->second}.substr(scheme.size()));
  if (!claims) return problem(401, "A JSON web token could not be decoded");
  return claim_error(app, *claims, time_of(state));
}

Response installation_object(json const& app) {
  json object{{"id", app.at("installation")}, {"app_slug", app.at("slug")}};
  object["repository_selection"] = "selected";
  object["permissions"] = {{"issues", "write"}, {"metadata", "read"}};
  return answer(200, object);
}

/// Long, as GitHub's tokens are since 2026.
std::string new_token(std::size_t number) {
  auto const digits = std::to_string(number);
  return "ghs_" + std::string(1000 - digits.size(), 'x') + digits;
}

bool names_only(json const& names, std::string const& name) {
  return names.is_array() && names == json::array({name});
}

/// Returns the error of the body of a request for a token.
std::optional<Response> token_request_error(json const& settings, json const& body) {
  auto const full_name = settings.at("repository").get<std::string>();
  auto const name = full_name.substr(full_name.find('/') + 1);
  if (body.contains("repositories") && !names_only(body["repositories"], name))
    return problem(422,
                   "There is at least one repository that does not exist or is not accessible to "
                   "the parent installation.");
  auto const wanted = body.value("permissions", json::object());
  for (auto const& [permission, level] : wanted.items())
    if (permission != "issues" && !(permission == "metadata" && level == "read"))
      return problem(422, "The permissions requested are not granted to this installation.");
  return std::nullopt;
}

Response make_token(json& state, Request const& request) {
  auto const& settings = state.at("settings");
  auto const& app = settings.at("app");
  if (app.value("suspended", false)) return problem(403, "This installation has been suspended");
  auto const body = json::parse(request.body.empty() ? "{}" : request.body, nullptr, false);
  if (!body.is_object()) return problem(400, "Problems parsing JSON");
  if (auto const error = token_request_error(settings, body)) return *error;
  auto const end = time_of(state) + app.value("token_s", 3600);
  auto const token = new_token(state.at("requests").size() + 1);
  state.at("app_tokens").push_back({{"token", token}, {"expires_at", end}});
  json object{{"token", token}, {"repository_selection", "selected"}};
  object["expires_at"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time_t{end}));
  object["permissions"] = {{"issues", "write"}, {"metadata", "read"}};
  return answer(201, object);
}

}  // namespace

std::int64_t time_of(json const& state) {
  auto const now = state.at("settings").at("now").get<std::int64_t>();
  return now == 0 ? std::int64_t{std::time(nullptr)} : now;
}

std::optional<Response> app_call(json& state, Request const& request, Target const& target) {
  auto const& settings = state.at("settings");
  auto const& path = target.path;
  bool const is_of_app = !path.empty() && path[0] == "app";
  bool const asks_repository = path.size() == 4 && path[0] == "repos" && path[3] == "installation";
  if (!is_of_app && !asks_repository) return std::nullopt;
  if (auto const error = jwt_error(state, request)) return error;
  auto const& app = settings.at("app");
  auto const name = asks_repository ? path[1] + "/" + path[2] : std::string{};
  if (request.method == "GET" && asks_repository && settings.at("repository") == name)
    return installation_object(app);
  bool const is_installed = path.size() >= 3 && path[0] == "app" && path[1] == "installations" &&
                            path[2] == app.at("installation").dump();
  if (request.method == "GET" && is_installed && path.size() == 3) return installation_object(app);
  if (request.method == "POST" && is_installed && path.size() == 4 && path[3] == "access_tokens")
    return make_token(state, request);
  return problem(404, "Not Found");
}

std::optional<Response> token_error(json const& state, std::string const& token) {
  for (auto const& known : state.at("app_tokens")) {
    if (known.at("token") != token) continue;
    if (known.at("expires_at").get<std::int64_t>() <= time_of(state)) break;
    if (state.at("settings").at("app").value("suspended", false))
      return problem(403, "This installation has been suspended");
    return std::nullopt;
  }
  return problem(401, "Bad credentials");
}

}  // namespace torchwatch::fakes
