#include "daemon/api/routes.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "daemon/api/bisection_request.h"
#include "daemon/api/build_request.h"
#include "daemon/api/dashboard.h"
#include "daemon/api/etag.h"
#include "daemon/api/json.h"
#include "daemon/api/pages.h"
#include "daemon/api/ruling_request.h"
#include "daemon/api/target.h"
#include "storage/base/number.h"

namespace torchwatch::api {
namespace {

namespace asio = boost::asio;
using http::FieldError;
using http::HttpRequest;
using http::HttpResponse;
using http::problem;

/// The kind of body that a resource accepts by POST.
enum class Post { nothing, bisection, steering, build, ruling };

constexpr std::size_t most_cached_bytes = 16 << 20;

}  // namespace

struct Route {
  std::string_view path;        ///< a last segment "{id}" matches any segment
  std::string_view parameters;  ///< names that a query may have, separated by spaces
  HttpResponse (*get)(View const&, Call const&);
  Post post = Post::nothing;
  bool is_of_store = true;  ///< the response can only change when the store does
};

namespace {

constexpr bool always_new = false;
constexpr std::string_view paging = "limit offset";
constexpr std::string_view cursor = "limit offset before";
constexpr std::string_view any = "*";  // the scripts of the page read them
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
    Route{"/api/v1/incidents", "state limit offset before", list_incidents},
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
    Route{"/api/v1/slots", paging, list_slots},
    Route{"/api/v1/rulings", cursor, list_rulings, Post::ruling},
    Route{"/api/v1/rulings/{id}", "", show_ruling},
};

/// Returns the words of `text` between single separators.
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

/// Returns an error for each parameter that is not in `parameters`, which are separated by spaces.
std::vector<FieldError> unknown_parameters(std::string_view parameters, Query const& query) {
  if (parameters == any) return {};
  auto const known = split(parameters, ' ');
  std::string allowed;
  for (auto const name : known)
    allowed.append(allowed.empty() ? "" : ", ").append(name);
  std::vector<FieldError> errors;
  for (auto const& [name, value] : query) {
    if (std::ranges::find(known, name) == known.end())
      errors.push_back(
          {name, "found an unknown parameter, allowed " + (known.empty() ? "none" : allowed)});
  }
  return errors;
}

HttpResponse error_response(Error const& error) {
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

HttpResponse steering_error_response(Error const& error) {
  if (error.code == ErrorCode::not_found) return problem(404, error.message);
  if (error.code == ErrorCode::refused) return problem(409, error.message);
  return error_response(error);
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
  return problem(400, "the body has errors; \"errors\" names each field", errors);
}

/// Returns 201 or 202 with the path of the record in Location.
HttpResponse posted(int status, std::string const& url, Json const& json) {
  HttpResponse response;
  response.status = status;
  response.headers["location"] = url;
  response.headers["content-type"] = "application/json";
  response.headers["cache-control"] = "no-store";
  response.body = text_of(json) + "\n";
  return response;
}

/// Returns the response to OPTIONS, or 405 to a method that the resource does not have.
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

/// The resource that a request names.
struct Subject {
  Target target;
  Route const* route;
  bool is_post;
};

/// Returns the resource that a request names, or the response to a request that names none.
boost::system::result<Subject, HttpResponse> subject_of(HttpRequest const& head) {
  auto target = parse_target(head.target);
  if (!target) return problem(400, target.error().message);
  auto const* const route = route_to(target->path);
  if (route == nullptr)
    return problem(404, "path: not found; /api/v1/openapi.json lists all paths");
  bool const is_post = route->post != Post::nothing && head.method == "POST";
  if (head.method != "GET" && !is_post) return other_method(*route, head.method);
  auto const errors = unknown_parameters(is_post ? "" : route->parameters, target->query);
  if (!errors.empty()) return bad_query(errors);
  return Subject{std::move(*target), route, is_post};
}

/// True for resources that need no token. Load balancers and supervisors have none, and browsers
/// have none before a page asks for it.
bool needs_no_token(Route const& route) {
  bool const is_vital = route.path == "/healthz" || route.path == "/readyz";
  bool const is_page = route.parameters == any || route.get == show_asset;
  return is_vital || is_page || route.get == show_description;
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
         SharedHealth const& health,
         metrics::Counters& counters,
         Requests requests,
         ApiOptions options)
    : counters_{counters},
      authorization_{options.access, clock},
      view_{reader,
            options.version,
            options.project,
            clock.now(),
            options.decide,
            options.retention,
            clock,
            health,
            counters},
      requests_{std::move(requests)},
      options_{std::move(options)},
      cache_{most_cached_bytes} {}

std::optional<HttpResponse> Api::check_request(HttpRequest const& head) {
  auto const began = std::chrono::steady_clock::now();
  auto refused = check(head);
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

std::optional<HttpResponse> Api::check(HttpRequest const& head) {
  auto const subject = subject_of(head);
  if (!subject) return subject.error();
  if (auto foreign = authorization_.check_host(head)) return foreign;
  auto const& route = *subject->route;
  std::optional<HttpResponse> refused;
  if (subject->is_post)
    refused = authorization_.check_write(head);
  else if (!needs_no_token(route))
    refused = authorization_.check_read(head);
  if (refused && refused->status == unauthorized) authorization_.note_refused_token(route.path);
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
  auto refused = check(request);
  if (refused) co_return std::move(*refused);
  auto const subject = subject_of(request);
  auto const& target = subject->target;
  auto const* const route = subject->route;
  if (!subject->is_post) {
    bool const has_id = route->path.ends_with("{id}");
    Call const call{std::string{route->path},
                    has_id ? target.path.back() : std::string{},
                    target.query,
                    !authorization_.check_read(request)};
    co_return route->is_of_store ? kept_or_new(*route, call, request.target)
                                 : route->get(view_, call);
  }
  switch (route->post) {
    case Post::bisection:
      co_return co_await post_bisection(std::move(request.body));
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

/// Clients that may not read get other pages, so these are not cached.
HttpResponse Api::kept_or_new(Route const& route, Call const& call, std::string const& target) {
  if (!call.may_read) return route.get(view_, call);
  auto const version = view_.store.version();
  if (auto kept = cache_.find(target, version)) return std::move(*kept);
  auto answer = route.get(view_, call);
  if (answer.status != 200) return answer;
  set_tag(answer);
  return cache_.keep(target, version, std::move(answer));
}

asio::awaitable<HttpResponse> Api::post_bisection(std::string body) {
  auto wanted = parse_bisection_request(
      body, options_.fleets, view_.store, options_.prior, options_.decide.threshold);
  if (!wanted) co_return bad_body(wanted.error());
  auto const asked = co_await requests_.bisection(std::move(*wanted));
  if (!asked) co_return error_response(asked.error());
  co_return posted(202, url_of(asked->id), in_brief(*asked));
}

asio::awaitable<HttpResponse> Api::post_steering(std::string id, std::string body) {
  auto const number = parse_number<std::int64_t>(id);
  if (!number) co_return unknown_id(id);
  auto const wanted = parse_steering_request(body);
  if (!wanted) co_return bad_body(wanted.error());
  BisectionId const steered{*number};
  auto const now = co_await requests_.steering(steered, *wanted);
  if (!now) co_return steering_error_response(now.error());
  co_return ok(in_brief(*now));
}

/// Returns 202 if the build will be fetched later.
asio::awaitable<HttpResponse> Api::post_build(std::string body) {
  auto const wanted = parse_build_request(body);
  if (!wanted) co_return bad_body(wanted.error());
  auto const done = co_await requests_.build_action(*wanted);
  if (!done) co_return steering_error_response(done.error());
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
  if (!given) co_return error_response(given.error());
  co_return posted(201, url_of(given->id), json_of(*given));
}

}  // namespace torchwatch::api
