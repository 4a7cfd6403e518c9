#include "daemon/api/routes.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include <openssl/crypto.h>
#include <spdlog/spdlog.h>
#include <strings.h>

#include "daemon/api/bisection_request.h"
#include "daemon/api/build_request.h"
#include "daemon/api/dashboard.h"
#include "daemon/api/description.h"
#include "daemon/api/etag.h"
#include "daemon/api/events.h"
#include "daemon/api/json.h"
#include "daemon/api/pages.h"
#include "daemon/api/ruling_request.h"
#include "daemon/api/steering_request.h"
#include "daemon/api/target.h"
#include "daemon/net/host.h"
#include "storage/domain/digest.h"

namespace torchwatch::api {
namespace {

namespace asio = boost::asio;
using net::FieldError;
using net::HttpRequest;
using net::HttpResponse;
using net::problem;

constexpr int unauthorized = 401;

/// What may be posted to a resource.
enum class Post { nothing, bisection, steering, build, ruling };

constexpr std::size_t most_cached_bytes = 16 << 20;

}  // namespace

struct Route {
  std::string_view path;        ///< a last segment "{id}" stands for any
  std::string_view parameters;  ///< names that a query may have, by blanks
  HttpResponse (*get)(View const&, Call const&);
  Post post = Post::nothing;
  bool is_of_store = true;  ///< says the same until the store changes
};

namespace {

constexpr bool always_new = false;
constexpr std::string_view paging = "limit offset";
constexpr std::string_view cursor = "limit offset before";
constexpr std::string_view any = "*";  // what a page's scripts understand
constexpr std::array routes{
    Route{"/", any, show_page},
    Route{"/nightlies", any, show_page},
    Route{"/nightlies/{id}", any, show_page},
    Route{"/series", any, show_page},
    Route{"/incidents", any, show_incidents_page},
    Route{"/incidents/{id}", any, show_incident_page},
    Route{"/bisections", any, show_page},
    Route{"/bisections/{id}", any, show_page},
    Route{"/compare", any, show_page},
    Route{"/trust", any, show_page},
    Route{"/alarms", any, show_page},
    Route{"/assets/{id}", "", show_asset},
    Route{"/healthz", "", health, Post::nothing, always_new},
    Route{"/readyz", "", readiness, Post::nothing, always_new},
    Route{"/metrics", "", show_metrics, Post::nothing, always_new},
    Route{"/api/v1/openapi.json", "", show_description},
    Route{"/api/v1/tonight", "", show_tonight},
    Route{"/api/v1/events", "", stream_events, Post::nothing, always_new},
    Route{"/api/v1/nightlies", cursor, list_nightlies},
    Route{"/api/v1/nightlies/{id}", "", show_nightly},
    Route{"/api/v1/series", "fleet benchmark metric nightly recent limit offset", list_series},
    Route{"/api/v1/history", "fleet benchmark metric format", show_history},
    Route{"/api/v1/change_points", "fleet benchmark metric", show_change_points},
    Route{"/api/v1/compare",
          "before after before_fleet after_fleet before_device after_device before_backend "
          "after_backend",
          show_comparison},
    Route{"/api/v1/sides", "", show_sides},
    Route{"/api/v1/incidents", cursor, list_incidents},
    Route{"/api/v1/incidents/{id}", "format", show_incident},
    Route{"/api/v1/bisections", cursor, list_bisections, Post::bisection},
    Route{"/api/v1/bisections/{id}", "", show_bisection, Post::steering},
    Route{"/api/v1/alarms", cursor, list_alarms},
    Route{"/api/v1/alarms/{id}", "", show_alarm},
    Route{"/api/v1/builds", paging, list_builds, Post::build, always_new},
    Route{"/api/v1/builds/{id}", "", show_build, Post::nothing, always_new},
    Route{"/api/v1/precision", "", show_precision},
    Route{"/api/v1/trust", "", show_trust},
    Route{"/api/v1/noise", paging, list_noise},
    Route{"/api/v1/rulings", cursor, list_rulings, Post::ruling},
    Route{"/api/v1/rulings/{id}", "", show_ruling},
};

/// The words of `text`, which single separators part.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    auto const end = std::min(text.find(separator), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool leads_to(Route const& route, std::vector<std::string> const& path) {
  if (route.path == "/") return path.size() == 1 && path.front().empty();
  auto const pattern = split(route.path.substr(1), '/');
  auto const fits = [](std::string_view segment, std::string_view asked) {
    return segment == asked || segment == "{id}";
  };
  return std::ranges::equal(pattern, path, fits);
}

Route const* route_to(std::vector<std::string> const& path) {
  auto const* const at =
      std::ranges::find_if(routes, [&](Route const& route) { return leads_to(route, path); });
  return at == routes.end() ? nullptr : &*at;
}

/// `parameters`: the names that are known, by blanks.
std::vector<FieldError> unknown_parameters(std::string_view parameters, Query const& query) {
  if (parameters == any) return {};
  auto const known = split(parameters, ' ');
  std::string allowed;
  for (auto const name : known)
    allowed.append(allowed.empty() ? "" : ", ").append(name);
  std::vector<FieldError> errors;
  for (auto const& [name, value] : query) {
    if (std::ranges::find(known, name) == known.end())
      errors.push_back({name, "found a parameter, allowed " + (known.empty() ? "none" : allowed)});
  }
  return errors;
}

std::string header(HttpRequest const& request, char const* name) {
  auto const at = request.headers.find(name);
  return at == request.headers.end() ? std::string{} : at->second;
}

bool is_same_word(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

/// Takes as long for a token that is nearly right as for one that is all wrong.
bool is_same_secret(std::string const& one, std::string const& other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

/// Why a request may not change anything; nothing when it may.
std::optional<HttpResponse> denial(HttpRequest const& request, std::string const& token) {
  constexpr std::string_view scheme = "Bearer ";
  if (token.empty())
    return problem(403, "the service has no token, so that nobody may ask it to do anything");
  auto const given = header(request, "authorization");
  bool const is_bearer = is_same_word(std::string_view{given}.substr(0, scheme.size()), scheme);
  if (is_bearer && is_same_secret(given.substr(scheme.size()), token)) return std::nullopt;
  auto response = problem(unauthorized,
                          is_bearer ? "Authorization: found another token than the service's"
                                    : "Authorization: found none, allowed \"Bearer TOKEN\"");
  response.headers["www-authenticate"] = is_bearer
                                             ? R"(Bearer realm="torchwatch", error="invalid_token")"
                                             : R"(Bearer realm="torchwatch")";
  return response;
}

/// "application/json", whatever its parameters say.
bool is_json(std::string_view content_type) {
  auto const end = std::min(content_type.find_first_of("; \t"), content_type.size());
  return is_same_word(content_type.substr(0, end), "application/json");
}

HttpResponse failed_ask(Error const& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
      return problem(400, error.message);
    case ErrorCode::unavailable:
    case ErrorCode::cancelled:
      return problem(503, error.message);
    case ErrorCode::refused:
    case ErrorCode::corrupt:
    case ErrorCode::internal:
      break;
  }
  return problem(500, error.message);
}

HttpResponse failed_steering(Error const& error) {
  if (error.code == ErrorCode::not_found) return problem(404, error.message);
  if (error.code == ErrorCode::refused) return problem(409, error.message);
  return failed_ask(error);
}

/// Why a body will not even be looked at; nothing when it will.
std::optional<HttpResponse> refusal(HttpRequest const& request, std::string const& token) {
  if (auto denied = denial(request, token)) return denied;
  auto const type = header(request, "content-type");
  if (is_json(type)) return std::nullopt;
  return problem(415, "Content-Type: found \"" + type + "\", allowed application/json");
}

/// Of its header Idempotency-Key: nothing when it has none.
Result<std::optional<RequestKey>> key_of(HttpRequest const& request) {
  constexpr std::size_t longest = 255;
  auto const is_visible = [](char c) {
    return c > ' ' && c <= '~';
  };
  if (!request.headers.contains("idempotency-key")) return std::optional<RequestKey>{};
  auto name = header(request, "idempotency-key");
  if (name.empty() || name.size() > longest || !std::ranges::all_of(name, is_visible))
    return Error{ErrorCode::invalid_argument,
                 "Idempotency-Key: found \"" + name.substr(0, longest) +
                     "\", allowed 1 to 255 visible characters of ASCII"};
  Sha256 digest;
  digest.add(request.body);
  return std::optional{RequestKey{std::move(name), digest.hex()}};
}

/// {id, state, url}.
Json in_brief(Bisection const& bisection) {
  Json json;
  json["id"] = bisection.id.value;
  json["state"] = to_string(bisection.state);
  json["url"] = url_of(bisection.id);
  return json;
}

HttpResponse bad_body(std::vector<FieldError> const& errors) {
  return problem(400, "the request cannot be understood", errors);
}

/// 201 or 202, and where the record is.
HttpResponse posted(int status, std::string const& url, Json const& json) {
  HttpResponse response;
  response.status = status;
  response.headers["location"] = url;
  response.headers["content-type"] = "application/json";
  response.headers["cache-control"] = "no-store";
  response.body = text_of(json) + "\n";
  return response;
}

/// The answer to anything but GET and a POST that may be.
HttpResponse other_method(Route const& route, std::string const& method) {
  std::string const allow =
      route.post == Post::nothing ? "GET, HEAD, OPTIONS" : "GET, HEAD, OPTIONS, POST";
  HttpResponse response;
  if (method == "OPTIONS")
    response.status = 204;
  else
    response = problem(405, "method: found " + method.substr(0, 60) + ", allowed " + allow);
  response.headers["allow"] = allow;
  return response;
}

/// What a request is about.
struct Subject {
  Target target;
  Route const* route;
  bool is_post;
};

/// The answer to a request that is none, instead of what it is about.
boost::system::result<Subject, HttpResponse> subject_of(HttpRequest const& head) {
  auto target = parse_target(head.target);
  if (!target) return problem(400, target.error().message);
  auto const* const route = route_to(target->path);
  if (route == nullptr) return problem(404, "nothing is there");
  bool const is_post = route->post != Post::nothing && head.method == "POST";
  if (head.method != "GET" && !is_post) return other_method(*route, head.method);
  auto const errors = unknown_parameters(is_post ? "" : route->parameters, target->query);
  if (!errors.empty()) return problem(400, "the query cannot be understood", errors);
  return Subject{std::move(*target), route, is_post};
}

/// Balancers and supervisors have no token, and browsers have none before a page asks for it.
bool is_for_everybody(Route const& route) {
  bool const is_vital = route.path == "/healthz" || route.path == "/readyz";
  bool const is_page = route.parameters == any || route.get == show_asset;
  return is_vital || is_page || route.get == show_description;
}

/// Why a client may not read what was measured; nothing when it may.
std::optional<HttpResponse> denial_to_read(HttpRequest const& head, ApiOptions const& options) {
  if (options.read_token.empty()) return std::nullopt;
  if (!options.token.empty() && !denial(head, options.token)) return std::nullopt;
  return denial(head, options.read_token);
}

}  // namespace

std::vector<RouteOutline> outline() {
  std::vector<RouteOutline> all;
  for (auto const& route : routes) {
    RouteOutline one;
    one.path = route.path;
    one.takes_any_parameter = route.parameters == any;
    if (!one.takes_any_parameter) one.parameters = split(route.parameters, ' ');
    one.may_be_posted_to = route.post != Post::nothing;
    all.push_back(std::move(one));
  }
  return all;
}

Api::Api(storage::Store& reader,
         Clock const& clock,
         VitalSigns const& vitals,
         metrics::Counters& counters,
         Requests requests,
         ApiOptions options)
    : clock_{clock},
      counters_{counters},
      view_{reader,
            options.version,
            options.project,
            clock.now(),
            options.decide,
            options.retention,
            clock,
            vitals,
            counters},
      requests_{std::move(requests)},
      options_{std::move(options)},
      cache_{most_cached_bytes} {}

/// Somebody may be guessing: it leaves a trace, but not one for each guess.
void Api::note_refusal(std::string_view path) {
  constexpr std::chrono::seconds pause{10};
  ++refusals_;
  // A clock that was set back does not silence it.
  if (std::chrono::abs(clock_.now() - last_noted_) < pause) return;
  spdlog::warn("token_refused path={} times={}", path, refusals_);
  last_noted_ = clock_.now();
  refusals_ = 0;
}

std::optional<HttpResponse> Api::objection_to(HttpRequest const& head) {
  auto const began = std::chrono::steady_clock::now();
  auto refused = objection(head);
  if (refused) count(head, refused->status, began);
  return refused;
}

void Api::count(HttpRequest const& head, int status, std::chrono::steady_clock::time_point began) {
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
  auto const target = parse_target(head.target);
  auto const* const route = target ? route_to(target->path) : nullptr;
  std::string const path{route == nullptr ? "none" : route->path};
  counters_.http_request(path, head.method, status, took.count());
}

std::optional<HttpResponse> Api::objection(HttpRequest const& head) {
  auto const subject = subject_of(head);
  if (!subject) return subject.error();
  auto const host = header(head, "host");
  if (options_.checks_host && !host.empty() && !net::is_host_ours(host, options_.hosts))
    return problem(421,
                   "Host: found \"" + host.substr(0, 100) +
                       "\", allowed are this machine's name and addresses, and http.hosts");
  auto const& route = *subject->route;
  std::optional<HttpResponse> refused;
  if (subject->is_post)
    refused = refusal(head, options_.token);
  else if (!is_for_everybody(route))
    refused = denial_to_read(head, options_);
  if (refused && refused->status == unauthorized) note_refusal(route.path);
  return refused;
}

asio::awaitable<HttpResponse> Api::handle(HttpRequest request) {
  auto const began = std::chrono::steady_clock::now();
  auto const head = HttpRequest{request.method, request.target, request.headers, {}};
  auto answer = co_await answer_to(std::move(request));
  if (head.method == "GET" && !answer.more) tag(head, answer);
  count(head, answer.status, began);
  co_return answer;
}

asio::awaitable<HttpResponse> Api::answer_to(HttpRequest request) {
  auto objected = objection(request);
  if (objected) co_return std::move(*objected);
  auto const subject = subject_of(request);
  auto const& target = subject->target;
  auto const* const route = subject->route;
  if (!subject->is_post) {
    bool const has_id = route->path.ends_with("{id}");
    Call const call{std::string{route->path},
                    has_id ? target.path.back() : std::string{},
                    target.query,
                    !denial_to_read(request, options_)};
    co_return route->is_of_store ? kept_or_new(*route, call, request.target)
                                 : route->get(view_, call);
  }
  switch (route->post) {
    case Post::bisection:
      co_return co_await post_bisection(std::move(request));
    case Post::steering:
      co_return co_await post_steering(target.path.back(), std::move(request.body));
    case Post::build:
      co_return co_await post_build(std::move(request.body));
    case Post::ruling:
      co_return co_await post_ruling(std::move(request.body));
    case Post::nothing:
      break;
  }
  co_return other_method(*route, request.method);
}

/// Who may not read gets other pages than who may.
HttpResponse Api::kept_or_new(Route const& route, Call const& call, std::string const& target) {
  if (!call.may_read) return route.get(view_, call);
  auto const version = view_.store.version();
  if (auto kept = cache_.find(target, version)) return std::move(*kept);
  auto answer = route.get(view_, call);
  if (answer.status != 200) return answer;
  set_tag(answer);
  return cache_.keep(target, version, std::move(answer));
}

/// A key that the body was sent with before has been another's when the queue refuses it.
asio::awaitable<HttpResponse> Api::post_bisection(HttpRequest request) {
  auto key = key_of(request);
  if (!key) co_return problem(400, key.error().message);
  auto wanted = parse_bisection_request(
      request.body, options_.fleets, view_.store, options_.prior, options_.decide.threshold);
  if (!wanted) co_return bad_body(wanted.error());
  bool const has_key = key->has_value();
  wanted->key = std::move(*key);
  auto const asked = co_await requests_.bisection(std::move(*wanted));
  if (!asked && has_key && asked.error().code == ErrorCode::refused)
    co_return problem(422, asked.error().message);
  if (!asked) co_return failed_ask(asked.error());
  co_return posted(202, url_of(asked->id), in_brief(*asked));
}

asio::awaitable<HttpResponse> Api::post_steering(std::string id, std::string body) {
  auto const number = parse_number<std::int64_t>(id);
  if (!number) co_return unknown_id(id);
  auto const wanted = parse_steering_request(body);
  if (!wanted) co_return bad_body(wanted.error());
  BisectionId const steered{*number};
  auto const now = co_await requests_.steering(steered, *wanted);
  if (!now) co_return failed_steering(now.error());
  co_return ok(in_brief(*now));
}

/// 202 when what is asked for comes later.
asio::awaitable<HttpResponse> Api::post_build(std::string body) {
  auto const wanted = parse_build_request(body);
  if (!wanted) co_return bad_body(wanted.error());
  auto const done = co_await requests_.build_action(*wanted);
  if (!done) co_return failed_steering(done.error());
  Json json;
  json["action"] = builds::to_string(wanted->action);
  json["builds"] = Json::array();
  for (auto const& build : *done)
    json["builds"].push_back(json_of(build));
  auto response = ok(json);
  if (wanted->action == builds::BuildAction::fetch && done->empty()) response.status = 202;
  co_return response;
}

asio::awaitable<HttpResponse> Api::post_ruling(std::string body) {
  auto wanted = parse_ruling_request(body, options_.fleets);
  if (!wanted) co_return bad_body(wanted.error());
  auto const given = co_await requests_.ruling(std::move(*wanted));
  if (!given) co_return failed_ask(given.error());
  co_return posted(201, url_of(given->id), json_of(*given));
}

}  // namespace torchwatch::api
