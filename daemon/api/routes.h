#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/api/authorization.h"
#include "daemon/api/cache.h"
#include "daemon/api/handlers.h"
#include "daemon/builds/build_request.h"
#include "daemon/http/http_message.h"
#include "storage/base/clock.h"
#include "storage/base/result.h"
#include "storage/domain/bisection.h"
#include "storage/domain/project.h"
#include "storage/domain/ruling.h"
#include "storage/store.h"

namespace torchwatch::api {

/// What the API cannot do itself, since it only reads. invalid_argument, not_found and refused
/// blame the request, unavailable and cancelled the moment.
struct Requests {
  /// Queues a bisection, or finds the one that was asked for with the same key, or the equal one
  /// that has not ended. refused when that key was another request's.
  std::function<boost::asio::awaitable<Result<Bisection>>(BisectionOrder)> bisection;
  /// Pauses, resumes (queued) or cancels a bisection: not_found, or refused when it has ended.
  std::function<boost::asio::awaitable<Result<Bisection>>(BisectionId, BisectionState)> steering;
  /// See builds::carry_out.
  std::function<boost::asio::awaitable<Result<std::vector<KeptBuild>>>(builds::BuildRequest)>
      build_action;
  /// Keeps a ruling.
  std::function<boost::asio::awaitable<Result<Ruling>>(Ruling)> ruling;
};

struct ApiOptions {
  AccessOptions access;
  /// What verdicts promise.
  config::DecideOptions decide;
  /// What is kept of builds, and for how long.
  builds::RetentionPolicy retention;
  /// On which fleets a bisection may be asked for.
  std::vector<config::FleetOptions> fleets;
  /// Of a bisection that does not say.
  Prior prior = Prior::uniform;
  /// Where the watched project's commits are shown; empty: nowhere.
  std::string project = project_url;
  /// Of this program.
  std::string version;
};

/// What a resource takes, for whoever tells others of it.
struct RouteOutline {
  std::string_view path;                     ///< "/api/v1/nightlies/{id}"
  std::vector<std::string_view> parameters;  ///< names that a query may have
  bool takes_any_parameter = false;
  bool may_be_posted_to = false;  ///< beside GET, HEAD and OPTIONS, which are always answered
};

/// All resources. api/openapi.json describes the same, and what they answer.
std::vector<RouteOutline> outline();

struct Route;

/// The HTTP API: what the service has stored, requests for bisections and what happens to them, and
/// rulings. Responses are JSON, errors are problems (RFC 9457), lists take ?limit and ?offset and
/// name their next page in Link; responses to GET carry an ETag. The table of routes is in
/// routes.cpp, and openapi.json describes each. On one thread, the store's.
class Api {
 public:
  /// `reader`, `clock`, `health` and `counters` must outlive it. The service counts as started now.
  Api(storage::Store& reader,
      Clock const& clock,
      SharedHealth const& health,
      metrics::Counters& counters,
      Requests requests,
      ApiOptions options);

  /// The response to a request that is refused whatever its body holds: for its target, method,
  /// host or token; nothing if it is allowed. Never throws.
  std::optional<http::HttpResponse> check_request(http::HttpRequest const& head);

  /// Answers any request. Throws when the store does.
  boost::asio::awaitable<http::HttpResponse> handle(http::HttpRequest request);

 private:
  std::optional<http::HttpResponse> check(http::HttpRequest const& head);
  boost::asio::awaitable<http::HttpResponse> answer_to(http::HttpRequest request);
  http::HttpResponse kept_or_new(Route const& route, Call const& call, std::string const& target);
  void count(http::HttpRequest const& head,
             int status,
             std::chrono::steady_clock::time_point began);
  boost::asio::awaitable<http::HttpResponse> post_bisection(std::string body);
  boost::asio::awaitable<http::HttpResponse> post_steering(std::string id, std::string body);
  boost::asio::awaitable<http::HttpResponse> post_build(std::string body);
  boost::asio::awaitable<http::HttpResponse> post_ruling(std::string body);

  metrics::Counters& counters_;
  Authorization authorization_;
  View view_;
  Requests requests_;
  ApiOptions options_;
  Cache cache_;
};

}  // namespace torchwatch::api
