#include "tests/fakes/github/routes.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "github/answer.h"
#include "tests/fakes/github/app_login.h"
#include "tests/fakes/github/issue_book.h"
#include "tests/fakes/github/people.h"
#include "tests/fakes/github/wire.h"

namespace torchwatch::fakes {
namespace {

using github::Request;
using github::Response;
using nlohmann::json;
using Path = std::vector<std::string>;

bool writes(Request const& request) {
  return request.method != "GET";
}

std::string header(Request const& request, std::string const& name) {
  auto const found = request.headers.find(name);
  return found == request.headers.end() ? std::string{} : found->second;
}

/// Returns the error of a request with wrong headers. GitHub checks them before the path.
std::optional<Response> header_error(Request const& request) {
  if (header(request, "user-agent").empty())
    return problem(403,
                   "Request forbidden by administrative rules. Please make sure your request has a "
                   "User-Agent header");
  auto const version = header(request, "x-github-api-version");
  if (!version.empty() && version != "2022-11-28" && version != "2026-03-10")
    return problem(400, "\"" + version + "\" is not a supported version.");
  auto const accept = header(request, "accept");
  if (!accept.empty() && accept.find("json") == std::string::npos &&
      accept.find("*/*") == std::string::npos)
    return problem(415, "Unsupported 'Accept' header: must accept application/json");
  return {};
}

/// Returns the error of a request without a token that GitHub accepts.
std::optional<Response> login_error(json const& state, Request const& request) {
  auto const& settings = state.at("settings");
  auto const authorization = header(request, "authorization");
  if (authorization.empty())
    return writes(request) ? std::optional{problem(401, "Requires authentication")} : std::nullopt;
  auto const token = settings.at("token").get<std::string>();
  auto const word = authorization.substr(authorization.find(' ') + 1);
  if (word == token) return {};
  if (!settings.at("app").is_null()) return token_error(state, word);
  return token.empty() ? std::nullopt : std::optional{problem(401, "Bad credentials")};
}

/// Returns the error of a write that the repository does not allow.
std::optional<Response> write_error(json const& settings, Request const& request) {
  if (!writes(request)) return {};
  if (settings.at("archived").get<bool>())
    return problem(403, "Repository was archived so is read-only.");
  if (settings.at("blocked").get<bool>()) return problem(403, "User is blocked");
  return {};
}

/// Reads the body of a write. Returns an error when it is not a JSON object.
std::optional<Response> read_body(Request const& request, json& body) {
  if (!writes(request)) return {};
  body = json::parse(request.body, nullptr, false);
  if (body.is_discarded()) return problem(400, "Problems parsing JSON");
  if (!body.is_object()) return problem(400, "Body should be a JSON object");
  return {};
}

Response moved(Request const& request, std::string const& place) {
  auto response =
      problem(writes(request) && request.method != "PATCH" ? 307 : 301, "Moved Permanently");
  auto body = json::parse(response.body);
  body["url"] = place;
  response.body = body.dump();
  response.headers["location"] = place;
  return response;
}

std::string text(json const& settings, char const* name) {
  return settings.at(name).get<std::string>();
}

Response user(json const& settings, Request const& request) {
  if (header(request, "authorization").empty()) return problem(401, "Requires authentication");
  auto const login = text(settings, "login");
  if (login.ends_with("[bot]")) return problem(403, "Resource not accessible by integration");
  return answer(200, {{"login", login}});
}

/// Returns the response of an organization with SAML to a token that it did not authorize.
Response unauthorized(std::string const& address) {
  auto response = problem(403,
                          "Resource protected by organization SAML enforcement. You must grant "
                          "your Personal Access token access to this organization.");
  response.headers["x-github-sso"] = "required; url=" + address;
  return response;
}

json repository_object(json const& settings, std::string const& url) {
  json object{{"id", settings.at("id")}, {"full_name", settings.at("repository")}};
  object["url"] = url + "/repos/" + text(settings, "repository");
  object["has_issues"] = settings.at("issues");
  object["archived"] = settings.at("archived");
  bool const may_push = settings.at("push").get<bool>();
  bool const may_triage = may_push || settings.at("triage").get<bool>();
  object["permissions"] = {{"push", may_push}, {"triage", may_triage}, {"pull", true}};
  return object;
}

std::int64_t issue_number(std::string const& text) {
  std::int64_t number = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size() ? number : 0;
}

/// Makes a call below .../issues or .../labels. `rest` is the path after the repository.
Response book_call(IssueBook& book,
                   std::string const& method,
                   Path const& rest,
                   Target const& target,
                   json const& body) {
  auto const shape = method + " " + rest.at(0) + (rest.size() > 1 ? "/N" : "") +
                     (rest.size() > 2 ? "/" + rest[2] : "");
  if (shape == "GET labels") return book.labels(target.query);
  if (shape == "POST labels") return book.create_label(body);
  if (shape == "GET issues") return book.list(target.query);
  if (shape == "POST issues") return book.create(body);
  if (rest.at(0) != "issues" || rest.size() < 2 || rest.size() > 3)
    return problem(404, "Not Found");
  auto const number = issue_number(rest[1]);
  if (shape == "GET issues/N") return book.get(number);
  if (shape == "PATCH issues/N") return book.update(number, body);
  if (shape == "GET issues/N/comments") return book.comments_of(number, target.query);
  if (shape == "POST issues/N/comments") return book.comment(number, body);
  if (shape == "PUT issues/N/lock") return book.lock(number);
  if (shape == "POST issues/N/labels") return book.add_labels(number, body);
  return problem(404, "Not Found");
}

/// Returns the number of path components that name the repository; 0 when the path names another
/// one or none.
std::size_t repository_depth(json const& settings, Path const& path) {
  if (path.size() >= 2 && path[0] == "repositories" && path[1] == settings.at("id").dump())
    return 2;
  if (path.size() < 3 || path[0] != "repos") return 0;
  auto const name = path[1] + "/" + path[2];
  for (auto const* const known : {"repository", "renamed_from"})
    if (name == text(settings, known)) return 3;
  return 0;
}

}  // namespace

Response route(json& state, Request const& request, std::string const& url) {
  auto const& settings = state["settings"];
  if (auto const refused = header_error(request)) return *refused;
  auto const target = parse_target(request.url);
  if (auto const response = app_call(state, request, target)) return *response;
  if (auto const refused = login_error(state, request)) return *refused;
  if (target.path == Path{"user"} && !writes(request)) return user(settings, request);
  if (auto const address = text(settings, "sso"); !address.empty()) return unauthorized(address);
  auto const depth = repository_depth(settings, target.path);
  if (depth == 0) return problem(404, "Not Found");
  IssueBook book{state, url};
  if (depth == 3 && target.path[1] + "/" + target.path[2] == text(settings, "renamed_from")) {
    auto const old = "/repos/" + text(settings, "renamed_from");
    return moved(request, book.place() + request.url.substr(old.size()));
  }
  Path const rest{target.path.begin() + static_cast<std::ptrdiff_t>(depth), target.path.end()};
  if (rest.empty() && !writes(request)) return answer(200, repository_object(settings, url));
  if (rest.empty()) return problem(404, "Not Found");
  if (auto const response = people_call(state, request, target, rest, url)) return *response;
  json body;
  if (auto const error = read_body(request, body)) return *error;
  if (rest[0] == "issues" && !settings["issues"].get<bool>())
    return problem(410, "Issues are disabled for this repo");
  if (auto const refused = write_error(settings, request)) return *refused;
  return book_call(book, request.method, rest, target, body);
}

}  // namespace torchwatch::fakes
